/** Debian's Postmark gem with objects of the Mail gem, as Rails applications use it. */
import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { simpleParser } from 'mailparser'
import type { ExecutionContext } from '#test'
import { portOf } from '../../support/daemon/daemon.ts'
import { makeDestination, makeRoute } from '../../support/daemon/provision.ts'
import { adminKey, startDaemon } from '../../support/daemon/start-daemon.ts'
import { FakeClock } from '../../support/fake-clock.ts'
import { testWith } from '../../support/peers/peers.ts'
import { Sink } from '../../support/smtp/sink.ts'

const run = promisify(execFile)
const program = fileURLToPath(new URL('postmark-gem.rb', import.meta.url))

async function start(t: ExecutionContext) {
  const sink = await Sink.listen()
  t.teardown(() => sink[Symbol.asyncDispose]())
  const { rest, addresses } = await startDaemon(t, {
    env: { POSTERN_OUTBOUND_ALLOW: 'destinations=127.0.0.1/32' },
    replacements: { clock: FakeClock.atMachineTime() },
  })
  await makeRoute(rest, await makeDestination(rest, { name: 'Sink', port: sink.port, mode: 'live' }))
  const send = async (what: string): Promise<unknown> => {
    const { stdout } = await run('/usr/bin/ruby', ['-W0', program, String(portOf(addresses.http)), adminKey, what], {
      env: { LANG: 'C.UTF-8' },
    })
    return JSON.parse(stdout)
  }
  const readOf = async (to: string) => {
    const delivery = await sink.delivered((one) => one.to.includes(to))
    return { delivery, read: await simpleParser(Buffer.from(delivery.content), { skipImageLinks: true }) }
  }
  return { rest, send, readOf }
}

type Response = Readonly<Record<string, unknown>>

testWith('postmarkGem')('Postmark gem: a Mail object arrives complete; the trace names ignored fields', async (t) => {
  const { rest, send, readOf } = await start(t)
  const sent = (await send('adapter')) as { id: string; delivered: boolean; response: Response }
  t.true(sent.delivered)
  t.like(sent.response, { ErrorCode: 0, Message: 'OK' })
  const { delivery, read } = await readOf('ada@example.net')
  t.deepEqual(delivery.to.toSorted(), ['ada@example.net', 'bcc@example.net', 'cc@example.net'])
  t.deepEqual(read.from?.value, [{ address: 'shop@example.ch', name: 'Müller, Shop' }])
  t.deepEqual([read.to].flat()[0]?.value, [{ address: 'ada@example.net', name: 'Ada Lovelace' }])
  t.is([read.cc].flat()[0]?.text, 'cc@example.net')
  t.is(read.replyTo?.text, 'help@example.ch')
  t.is(read.subject, 'Grüezi – your order 4711')
  t.is(read.text?.trimEnd(), 'Thank you, Zoë.')
  t.regex(String(read.html), /Thank you, Zoë\./)
  t.is(read.headers.get('x-order'), '4711')
  t.is(read.references, '<earlier@mail.example.ch>')
  const files = new Map(read.attachments.map((file) => [file.filename, file]))
  t.like(files.get('Rechnung ä.pdf'), { contentType: 'application/pdf', size: 3000, contentDisposition: 'attachment' })
  t.like(files.get('logo.png'), { contentType: 'image/png', size: 10, related: true })
  const id = String(sent.response['MessageID'])
  const trace = await rest.must('GET', `/v1/traces/${id}`)
  t.like(trace, { tags: ['spring sale'], metadata: { order: '4711', MessageStream: 'broadcast' } })
  const timeline = trace['timeline'] as { event: string; detail: { ignored_fields: string[] } }[]
  const [said] = timeline.filter(({ event }) => event === 'dialect')
  t.deepEqual(
    said?.detail.ignored_fields.toSorted(),
    ['Content-Transfer-Encoding', 'Message-ID', 'Mime-Version'].map((name) => `Headers.${name}`),
  )
})

testWith('postmarkGem')('Postmark gem: batches, templates and refusals of Mail objects', async (t) => {
  const { rest, send, readOf } = await start(t)
  const batch = (await send('batch')) as readonly Response[]
  t.deepEqual(
    batch.map(({ error_code: code, message }) => [code, message]),
    [
      [0, 'OK'],
      [0, 'OK'],
    ],
  )
  t.is((await readOf('eva@example.net')).read.attachments.length, 2)
  t.is((await readOf('bob@example.net')).read.text?.trimEnd(), 'Grüezi')
  await rest.must('POST', '/v1/templates', { slug: 'welcome', name: 'Welcome', subject_tmpl: 'Hi {{.name}}', text_tmpl: 'Hi {{.name}}!' })
  t.like(await send('template'), { error_code: 0 })
  t.is((await readOf('max@example.net')).read.subject, 'Hi Zoë')
  t.like(await send('templates'), [{ error_code: 0 }])
  t.is((await readOf('mia@example.net')).read.text?.trimEnd(), 'Hi Zoë!')
  t.like(await send('refused'), { error: 'Postmark::InvalidEmailAddressError', code: 300 })
})
