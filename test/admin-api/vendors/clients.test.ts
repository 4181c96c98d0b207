/** Mail of the official clients of other services arrives complete. */
import test from '#test'
import { simpleParser } from 'mailparser'
import { makeDestination, makeRoute } from '../../support/daemon/provision.ts'
import { adminKey, startDaemon } from '../../support/daemon/start-daemon.ts'
import { FakeClock } from '../../support/fake-clock.ts'
import { Sink } from '../../support/smtp/sink.ts'
import { clients } from './clients.ts'
import { mailOf } from './mail.ts'

/** Header fields of a whole mail object; the client has extracted its other parts. */
const whole = { 'MIME-Version': '1.0', 'Content-Transfer-Encoding': '8bit', 'Message-ID': '<own.1@mail.example.ch>' }
/** Services that keep a Message-ID; the others set their own. */
const keeping = ['sendgrid', 'mailgun']

for (const [name, send] of Object.entries(clients))
  test(`${name}: a mail of its client arrives with names, copies, headers and files`, async (t) => {
    const sink = await Sink.listen()
    t.teardown(() => sink[Symbol.asyncDispose]())
    const daemon = await startDaemon(t, {
      env: { POSTERN_OUTBOUND_ALLOW: 'destinations=127.0.0.1/32' },
      replacements: { clock: FakeClock.atMachineTime() },
    })
    const { rest } = daemon
    await makeRoute(rest, await makeDestination(rest, { name: 'Sink', port: sink.port, mode: 'live' }))
    const mail = { ...mailOf(name), headers: whole }
    const id = await send(`http://${daemon.addresses.http}`, adminKey, mail)
    const delivery = await sink.delivered(({ to }) => to.includes(mail.to.email))
    t.deepEqual([delivery.from, delivery.to.toSorted()], [mail.from.email, [mail.to.email, mail.cc, mail.bcc].toSorted()])
    const read = await simpleParser(Buffer.from(delivery.content), { skipImageLinks: true })
    t.deepEqual(read.from?.value[0], { address: mail.from.email, name: mail.from.name })
    t.deepEqual([read.to].flat()[0]?.value, [{ address: mail.to.email, name: mail.to.name }])
    t.is([read.cc].flat()[0]?.text, mail.cc)
    t.is(read.bcc, undefined)
    t.is(read.replyTo?.value[0]?.address, mail.replyTo)
    t.is(read.subject, mail.subject)
    t.is(read.text?.trimEnd(), mail.text.trimEnd())
    t.is(String(read.html).trimEnd(), mail.html)
    t.is(read.headers.get('x-order'), '4711')
    const files = new Map(read.attachments.map((file) => [file.filename ?? '', file]))
    t.is(read.attachments.length, 2)
    const { type: contentType, content } = mail.file
    t.like(files.get(mail.file.name), { contentType, contentDisposition: 'attachment', content })
    const image = { contentType: mail.image.type, content: mail.image.content }
    // Brevo’s files have no id
    t.like(files.get(mail.image.name), name === 'brevo' ? image : { ...image, cid: mail.image.cid, related: true })
    const trace = await rest.must('GET', `/v1/traces/${id}`)
    t.true(JSON.stringify([trace['tags'], trace['metadata']]).includes(mail.tag))
    const left = Object.keys(whole).filter((field) => field !== 'Message-ID' || !keeping.includes(name))
    const [said] = (trace['timeline'] as { event: string; detail: { ignored_fields: string[] } }[]).filter(
      ({ event }) => event === 'dialect',
    )
    t.deepEqual(said?.detail.ignored_fields.map((field) => field.replace(/^.*[.:]/, '')).toSorted(), left.toSorted())
    t.is(read.messageId === whole['Message-ID'], keeping.includes(name))
    t.is(read.headers.get('mime-version'), '1.0')
    t.is(trace['message_id'], read.messageId?.slice(1, -1))
    const events = (trace['timeline'] as { event: string }[]).map(({ event }) => event)
    t.deepEqual(events.slice(0, 3), ['accepted', 'dialect', 'routed'])
  })
