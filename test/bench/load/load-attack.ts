/**
 * An attack in a separate process: connections repeat one request after each response of any status. When stopped, prints the numbers of
 * served and refused requests.
 */
import { connect } from 'node:net'
import { readFileSync } from 'node:fs'
import { monotonicMs, type AttackJob, type AttackResult } from './load-job.ts'

const { port, sessions, request: file } = JSON.parse(process.argv[2] ?? '{}') as AttackJob
const request = readFileSync(file)
const begun = monotonicMs()
const found: Record<'served' | 'refused' | 'broken', number> = { served: 0, refused: 0, broken: 0 }

function attack(): void {
  const socket = connect({ host: '127.0.0.1', port, noDelay: true }, () => socket.write(request))
  let head = ''
  let left = -1
  socket.on('data', (chunk: Buffer) => {
    if (left < 0) {
      head += chunk.toString('latin1')
      const end = head.indexOf('\r\n\r\n')
      if (end < 0) return
      found[head.startsWith('HTTP/1.1 429') || head.startsWith('HTTP/1.1 503') ? 'refused' : 'served']++
      const length = /\r\ncontent-length: *(\d+)/i.exec(head.slice(0, end))?.[1]
      if (length === undefined) return void socket.destroy() // a stream
      left = Number(length) - (head.length - end - 4)
    } else left -= chunk.length
    if (left > 0) return
    head = ''
    left = -1
    socket.write(request)
  })
  socket.on('error', () => found.broken++)
  socket.on('close', () => setTimeout(attack, 1))
}

for (let i = 0; i < sessions; i++) attack()

process.once('SIGTERM', () => {
  const result: AttackResult = { ...found, seconds: (monotonicMs() - begun) / 1000 }
  process.stdout.write(JSON.stringify(result), () => process.exit(0))
})
process.stdout.write('\n')
