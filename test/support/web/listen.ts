/** Servers that end with the test. */
import { once } from 'node:events'
import { Server as HttpServer } from 'node:http'
import { Server as HttpsServer } from 'node:https'
import type { AddressInfo, Server } from 'node:net'
import type { ExecutionContext } from 'ava'

/** Opens the server on a free loopback port; returns the port. Connections of an HTTP server end with the test. */
export async function listenIn(t: Pick<ExecutionContext, 'teardown'>, server: Server, host = '127.0.0.1', port = 0): Promise<number> {
  await once(server.listen(port, host), 'listening')
  t.teardown(() => {
    if (server instanceof HttpServer || server instanceof HttpsServer) server.closeAllConnections()
    server.close()
  })
  return (server.address() as AddressInfo).port
}
