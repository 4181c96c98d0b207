/**
 * Proves that the daemon orders the disk to store a message before it acknowledges it, which a kill cannot show. The evidence is the
 * kernel's record of the daemon's system calls.
 */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { ExecutionContext } from 'ava'
import { Daemon, portOf } from '../support/daemon/daemon.ts'
import { makeDestination, makeLogin, makeRoute } from '../support/daemon/provision.ts'
import { Sink } from '../support/smtp/sink.ts'
import { SmtpClient } from '../support/smtp/smtp-client.ts'
import { testWith } from '../support/peers/peers.ts'
import { temporaryFolder } from '../support/daemon/workspace.ts'
import { letterOf } from './letters.ts'
import { isFile, isRead, isSocket, isSync, isWrite, openedSynced, readTrace, type SystemCall } from './system-calls.ts'

const traced = testWith('strace')

const watched = 'trace=openat,fsync,fdatasync,read,readv,recvfrom,recvmsg,write,writev,pwrite64,pwritev,sendto,sendmsg'

traced('serve syncs the disk between the final dot and the 250, for every message', async (t) => {
  const marks = Array.from({ length: 24 }, (_, i) => ({ marker: `mk-fsync-${String(i)}-x`, size: i % 6 === 5 ? 90_000 : 900 }))
  const calls = await trace(async (daemon, relay) => {
    const login = await makeLogin(daemon.rest, relay)
    const session = async (mine: typeof marks): Promise<void> => {
      const client = await SmtpClient.signIn({ port: portOf(daemon.addresses.submission[0]) }, login)
      for (const mark of mine) {
        const to = [`${mark.marker}@inbox.test`]
        const { accepted } = await client.send({ from: 'a@relay.test', to, content: letterOf(mark, 'a@relay.test', to) })
        t.true(accepted)
      }
      await client.quit()
    }
    await Promise.all([0, 1, 2].map((n) => session(marks.filter((_, i) => i % 3 === n))))
  })
  for (const { marker } of marks) assertSynced(t, calls, { marker, arrived: `end of ${marker}\\r\\n.\\r\\n`, answered: /"250[ -]/ })
})

traced('serve syncs the disk between a POST and its 2xx answer', async (t) => {
  const markers = Array.from({ length: 12 }, (_, i) => `mk-post-${String(i)}-x`)
  const calls = await trace(async (daemon) => {
    const post = (subject: string): Promise<unknown> =>
      daemon.rest.must('POST', '/v1/messages', { from: 'a@relay.test', to: 'b@inbox.test', subject, text: `end of ${subject}` })
    for (const marker of markers.slice(0, 4)) await post(marker)
    await Promise.all(markers.slice(4).map(post))
  })
  for (const marker of markers) assertSynced(t, calls, { marker, arrived: `end of ${marker}`, answered: /"HTTP\/1\.1 20/ })
})

/** Runs `work` with a daemon whose system calls are recorded. Returns the record. */
async function trace(work: (daemon: Daemon, relay: string) => Promise<void>): Promise<SystemCall[]> {
  await using folder = await temporaryFolder('fsync')
  await using sink = await Sink.listen()
  sink.script = { message: () => new Promise(() => undefined) } // without deliveries, every write of a content stores it
  const record = join(folder.path, 'calls')
  const wrapper = ['strace', '-f', '-ttt', '-yy', '-s', '400000', '-e', watched, '-o', record]
  await using daemon = await Daemon.start({ folder: folder.path, wrapper })
  const relay = await makeDestination(daemon.rest, { name: 'smart host', port: sink.port, mode: 'live' })
  await makeRoute(daemon.rest, relay)
  await work(daemon, relay)
  await daemon.kill()
  return readTrace(await readFile(record, 'utf8'))
}

interface Promised {
  readonly marker: string
  /** The last octets of the request, as strace prints them. */
  readonly arrived: string
  readonly answered: RegExp
}

/** The required order: last octet read, content and records written to files, files synced, reply written. */
function assertSynced(t: ExecutionContext, calls: readonly SystemCall[], { marker, arrived, answered }: Promised): void {
  const read = calls.find((call) => isRead(call) && isSocket(call) && call.text.includes(arrived))
  if (!read) return t.fail(`${marker}: its end was not seen to arrive`)
  const answer = calls.find((call) => isWrite(call) && call.file === read.file && call.begun > read.ended && answered.test(call.text))
  if (!answer) return t.fail(`${marker}: no answer was seen`)
  const between = calls.filter((call) => call.begun > read.ended && call.ended < answer.begun)
  const stored = between.filter((call) => isWrite(call) && isFile(call) && call.text.includes(marker))
  if (stored.length === 0) return t.fail(`ledger: ${marker} was not written to any file before the answer`)
  for (const write of stored) {
    const synced =
      calls.some((call) => openedSynced(call) === write.file && call.ended < write.begun) ||
      between.some((call) => isSync(call) && sameFile(call, write) && call.begun > write.ended)
    t.true(synced, `ledger: ${marker}: ${write.file} was written, but not synced before the answer`)
  }
}

const sameFile = (one: SystemCall, other: SystemCall): boolean => one.file === other.file
