"""A TLS server that passes everything on to a port of this machine: tls-front.py CERTIFICATE KEY PORT.

Prints the port on which it listens, and ends with its standard input.
"""

import asyncio
import ssl
import sys


async def pipe(source, target):
    try:
        while data := await source.read(65536):
            target.write(data)
            await target.drain()
    except (ConnectionError, ssl.SSLError):
        pass
    finally:
        target.close()


async def main():
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(sys.argv[1], sys.argv[2])

    async def serve(reader, writer):
        inner_reader, inner_writer = await asyncio.open_connection("127.0.0.1", int(sys.argv[3]))
        await asyncio.gather(pipe(reader, inner_writer), pipe(inner_reader, writer))

    server = await asyncio.start_server(serve, "127.0.0.1", 0, ssl=context)
    print(server.sockets[0].getsockname()[1], flush=True)
    await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)


asyncio.run(main())
