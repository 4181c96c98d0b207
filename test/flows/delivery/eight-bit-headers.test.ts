/** 8-bit header fields of programs that do not request SMTPUTF8, on a server that does not offer it. */
import test, { type ExecutionContext } from '#test'
import { portOf } from '../../support/daemon/daemon.ts'
import { catchAllInbox, makeDestination, makeLogin } from '../../support/daemon/provision.ts'
import { startDaemon } from '../../support/daemon/start-daemon.ts'
import { Sink } from '../../support/smtp/sink.ts'
import { SmtpClient } from '../../support/smtp/smtp-client.ts'

const letter = (subject: string, encoding: BufferEncoding): Buffer => {
  const fields = [
    'From: Mira <mira@example.com>',
    'To: desk@example.org',
    `Subject: ${subject}`,
    'X-Mailer: Müller',
    'Message-ID: <1@example.com>',
  ]
  return Buffer.from([...fields, 'Date: Sun, 29 Nov 2026 09:00:00 +0100', '', 'Danke.', ''].join('\r\n'), encoding)
}

async function start(t: ExecutionContext, mode: 'live' | 'sandbox' = 'live') {
  const sink = await Sink.listen({ offers: ['SIZE 52428800', '8BITMIME'] })
  t.teardown(() => sink[Symbol.asyncDispose]())
  const daemon = await startDaemon(t, { env: { POSTERN_OUTBOUND_ALLOW: 'destinations=127.0.0.1/32' } })
  const destination = await makeDestination(daemon.rest, { name: 'Sink', port: sink.port, mode })
  const client = await SmtpClient.signIn({ port: portOf(daemon.addresses.submission) }, await makeLogin(daemon.rest, destination))
  t.teardown(() => client.quit())
  return { daemon, sink, client }
}

test('8-bit header fields: UTF-8 and Latin-1 are relayed unchanged', async (t) => {
  const { sink, client } = await start(t)
  for (const encoding of ['utf8', 'latin1'] as const) {
    const content = letter('Bestellbestätigung für Käthe', encoding)
    t.true((await client.send({ from: 'mira@example.com', to: [`${encoding}@example.org`], content })).accepted)
    const delivery = await sink.delivered(({ to }) => to.includes(`${encoding}@example.org`))
    const arrived = Buffer.from(delivery.content)
    t.true(arrived.includes(content.subarray(0, content.indexOf('\r\n\r\n'))), encoding)
  }
  t.deepEqual(
    sink.lines.filter((line) => line.includes('SMTPUTF8')),
    [],
  )
})

test('8-bit subject: readable in traces and captures, in UTF-8, Latin-1, text charset', async (t) => {
  const { daemon, client } = await start(t, 'sandbox')
  const subjects = ['Grüße in Latin-1', 'Grüße in UTF-8', 'Привет']
  const [utf8, latin1, cyrillic] = [
    letter('Grüße in UTF-8', 'utf8'),
    letter('Grüße in Latin-1', 'latin1'),
    letter('\xcf\xf0\xe8\xe2\xe5\xf2', 'latin1'),
  ]
  const declared = Buffer.concat([Buffer.from('Content-Type: text/plain; charset=windows-1251\r\n'), cyrillic])
  for (const content of [utf8, latin1, declared])
    t.true((await client.send({ from: 'mira@example.com', to: ['desk@example.org'], content })).accepted)
  await daemon.settled()
  const inbox = `/v1/inboxes/${await catchAllInbox(daemon.rest)}/messages`
  for (const path of ['/v1/traces', inbox]) {
    const shown = (await Array.fromAsync(daemon.rest.rows(path))).map(({ subject }) => String(subject))
    t.deepEqual(shown.toSorted(), subjects, path)
  }
  for await (const { id } of daemon.rest.rows(inbox)) {
    const { subject } = await daemon.rest.must('GET', `${inbox}/${String(id)}`)
    t.true(subjects.includes(String(subject)), `opened: ${String(subject)}`)
  }
  t.is((await Array.fromAsync(daemon.rest.rows(`/v1/traces?q=${encodeURIComponent('grüße')}`))).length, 2)
})

test('address in invalid UTF-8: shown as a guess with a note, never used as an address', async (t) => {
  const { daemon, client } = await start(t, 'sandbox')
  const content = Buffer.from('From: Käthe <käthe@example.com>\r\nTo: jürg@example.org, ok@example.org\r\n\r\nDanke.\r\n', 'latin1')
  t.true((await client.send({ from: 'mira@example.com', to: ['desk@example.org'], content })).accepted)
  await daemon.settled()
  const inbox = `/v1/inboxes/${await catchAllInbox(daemon.rest)}/messages`
  for await (const { id } of daemon.rest.rows(inbox)) {
    const shown = await daemon.rest.must('GET', `${inbox}/${String(id)}`)
    t.like(shown, { intended_from: 'mira@example.com', reading_notes: [{ code: 'guessed_address' }] })
    t.deepEqual(shown['addresses_seen'], [
      'desk@example.org',
      'jürg@example.org',
      'käthe@example.com',
      'mira@example.com',
      'ok@example.org',
    ])
  }
  for await (const trace of daemon.rest.rows('/v1/traces')) t.notRegex(JSON.stringify(trace), /\ufffd/)
})

test('SMTPUTF8: requests and addresses that need it are refused with a reason', async (t) => {
  const { daemon, sink, client } = await start(t)
  t.is((await client.command('MAIL FROM:<mira@example.com> SMTPUTF8')).code, 250)
  t.is((await client.command('RCPT TO:<desk@example.org>')).code, 250)
  t.is((await client.command('DATA')).code, 354)
  const { lines } = await client.command(`${letter('Grüße', 'utf8').toString()}.`)
  const [id = ''] = /[0-9a-f-]{36}/.exec(lines.join(' ')) ?? []
  await daemon.settled()
  const trace = await daemon.rest.must('GET', `/v1/traces/${id}`)
  t.is(trace['status'], 'failed')
  t.regex(JSON.stringify(trace), /the host does not offer SMTPUTF8/)
  t.is(sink.deliveries.length, 0)
})
