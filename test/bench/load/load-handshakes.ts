/**
 * A storm of TLS handshakes in a separate process: clients send a ClientHello, wait for the server's part of the handshake, which is nearly
 * all of its work, and reconnect. In reality, such clients are many machines with separate processors. So all of them send the same octets
 * and compute nothing. When stopped, prints the number of responses and the duration in seconds.
 */
import { once } from 'node:events'
import { connect } from 'node:net'
import { Duplex } from 'node:stream'
import { connect as connectTls } from 'node:tls'
import { monotonicMs, type StormJob, type StormResult } from './load-job.ts'

const { port, sessions } = JSON.parse(process.argv[2] ?? '{}') as StormJob

/** A ClientHello of TLS 1.3 (RFC 8446 §4.1.2). */
async function clientHello(): Promise<Buffer> {
  const wire = new Duplex({ read: () => undefined, write: (chunk: Buffer) => void wire.emit('first', chunk) })
  const first = once(wire, 'first')
  connectTls({ socket: wire, rejectUnauthorized: false }).on('error', () => undefined)
  const [hello] = (await first) as [Buffer]
  return hello
}

const hello = await clientHello()
const begun = monotonicMs()
let handshakes = 0
let failures = 0

function come(): void {
  let answered = false
  const socket = connect({ host: '127.0.0.1', port, noDelay: true }, () => socket.write(hello))
  socket.once('data', () => {
    answered = true
    handshakes++
    socket.destroy()
  })
  socket.on('error', () => undefined)
  socket.on('close', () => {
    if (!answered) failures++
    come()
  })
}

for (let i = 0; i < sessions; i++) come()

process.once('SIGTERM', () => {
  const { user, system } = process.cpuUsage()
  const elapsed = monotonicMs() - begun
  const result: StormResult = { handshakes, failures, seconds: elapsed / 1000, cpu: (user + system) / 1000 / elapsed }
  process.stdout.write(JSON.stringify(result), () => process.exit(0))
})
process.stdout.write('\n')
