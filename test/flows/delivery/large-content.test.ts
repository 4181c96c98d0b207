/** Processing of a 100 KiB message from the incoming socket to the outgoing one. */
import { createServer } from 'node:net'
import test, { type ExecutionContext } from '#test'
import { waitFor } from '../../support/waits.ts'
import { makeDestination, makeLogin } from '../../support/daemon/provision.ts'
import { startDaemon } from '../../support/daemon/start-daemon.ts'
import { countHandled } from '../../support/measure/handled-octets.ts'
import { SmtpClient } from '../../support/smtp/smtp-client.ts'
import { listenIn } from '../../support/web/listen.ts'

const header = 'From: shop@site.test\r\nTo: anna@peer.test\r\nSubject: Your order\r\n\r\n'
const contentOf = (line: string): string => header + `${line}\r\n`.repeat(Math.ceil((100 * 1024) / (line.length + 2)))

/** A smart host that only counts the octets after DATA. */
async function counter(t: ExecutionContext): Promise<{ readonly port: number; octets: number; messages: number }> {
  const counted = { port: 0, octets: 0, messages: 0 }
  const server = createServer((socket) => {
    let [inContent, last] = [false, '']
    socket.on('error', () => socket.destroy()).write('220 sink.test ESMTP\r\n')
    socket.on('data', (chunk) => {
      last = (last + chunk.subarray(-5).toString('latin1')).slice(-5)
      if (inContent) {
        counted.octets += chunk.length
        if (last !== '\r\n.\r\n') return
        inContent = false
        counted.messages++
        socket.write('250 2.0.0 Ok\r\n')
      } else {
        const lines = chunk.toString('latin1').split('\r\n').slice(0, -1)
        inContent = lines.at(-1) === 'DATA'
        for (const line of lines) socket.write(line === 'DATA' ? '354 Go on\r\n' : '250 2.0.0 Ok\r\n')
      }
    })
  })
  counted.port = Number(await listenIn(t, server))
  return counted
}

for (const [what, line, copies] of [
  ['as clients send it', 'x'.repeat(76), 0],
  ['of lines that begin with a dot, which comes off on the way in and on again on the way out', `.${'x'.repeat(75)}`, 1],
] as const)
  test.serial(`100 KiB message ${what}: ${copies} copies per direction, one hash, no text conversion`, async (t) => {
    const sink = await counter(t)
    const env = { POSTERN_OUTBOUND_ALLOW: 'destinations=127.0.0.1/32', POSTERN_SUBMISSION_CLEARTEXT_AUTH: 'loopback' }
    const daemon = await startDaemon(t, { env })
    const destination = await makeDestination(daemon.rest, { name: 'sink', port: sink.port, mode: 'live' })
    const login = await makeLogin(daemon.rest, destination)
    const client = await SmtpClient.signIn({ port: Number(daemon.addresses.submission.split(':').at(-1)) }, login)
    t.teardown(() => client.destroy())
    const content = contentOf(line)
    const wire = content.replaceAll('\r\n.', '\r\n..')
    const send = async (): Promise<readonly number[]> => {
      const codes = [await client.command('MAIL FROM:<shop@site.test>\r\nRCPT TO:<anna@peer.test>\r\nDATA')]
      codes.push(await client.next(), await client.next(), await client.command(`${wire}.`))
      return codes.map(({ code }) => code)
    }
    const sent = async (messages: number): Promise<void> => {
      t.deepEqual(await send(), [250, 250, 354, 250])
      await waitFor('the message is delivered', async () => sink.messages >= messages)
    }
    await sent(1) // the first message finds cold caches
    sink.octets = 0
    const handled = countHandled(t)
    await sent(2)
    t.true(sink.octets >= wire.length, 'it was delivered whole')
    const by = (kind: string): string => handled.callers.filter((caller) => caller.startsWith(kind)).join('\n')
    t.is(handled.hashed, content.length, by('hashed'))
    t.is(handled.summed, content.length, by('summed'))
    t.is(handled.text, 0, by('text'))
    const most = 2 * copies * wire.length * 1.1
    t.true(handled.allocated <= most, `${handled.allocated} octets in new buffers`)
    t.true(handled.copied <= most, `${handled.copied} octets copied`)
  })
