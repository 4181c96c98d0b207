/** A policy service for Postfix (`check_policy_service` protocol) with decisions of the test for each recipient. */
import { createServer } from 'node:net'
import { once } from 'node:events'

/** An action such as `DUNNO` or `450 4.2.1 later`, by recipient. */
export type Policy = (recipient: string) => string

/** Listens on a free loopback port. Postfix calls it for every RCPT. */
export async function servePolicy(policy: Policy): Promise<AsyncDisposable & { readonly port: number }> {
  const server = createServer((socket) => {
    let pending = ''
    socket.on('error', () => socket.destroy())
    socket.on('data', (chunk: Buffer) => {
      pending += chunk.toString('utf8')
      for (let end = pending.indexOf('\n\n'); end >= 0; end = pending.indexOf('\n\n')) {
        const recipient = /^recipient=(.*)$/m.exec(pending.slice(0, end))?.[1] ?? ''
        pending = pending.slice(end + 2)
        socket.write(`action=${policy(recipient)}\n\n`)
      }
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('the policy service does not listen')
  return { port: address.port, [Symbol.asyncDispose]: async () => void server.close() }
}
