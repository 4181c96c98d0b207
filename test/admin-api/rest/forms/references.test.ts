/** The reference of a submission: computed once, shown the same at every entry point, and searchable. */
import test from '#test'
import { builtFormScripts } from '../../../support/web/built.ts'
import { WebhookReceiver } from '../../../support/web/webhook-receiver.ts'
import { waiting } from '../../../support/waits.ts'
import { graphqlCaller } from '../../graphql/graphql-fixture.ts'
import { baseUrl } from '../fixture/rest-fixture.ts'
import { definition, formFixture } from './visitor.ts'

type Row = Readonly<Record<string, unknown>>

test('reference: the same for visitor, lists, files, webhook and mail; q finds it', async (t) => {
  await builtFormScripts()
  await using receiver = await new WebhookReceiver().listen()
  const fixture = await formFixture(t, {}, { hasMail: true })
  const { rest, address, publicId, path, form, token, submissions, send } = fixture
  await fixture.addMember('team@example.ch', 'developer')
  const subject_tmpl = 'New {{.submission.reference}}'
  const notify = { from: 'forms@example.ch', recipients: [{ email: 'team@example.ch' }], webhook_url: receiver.url, subject_tmpl }
  await rest.must('PUT', `${path}/notifications`, notify)

  const page = `http://${address}/f/${publicId}`
  const body = new FormData()
  for (const [name, value] of Object.entries({ email: 'ada@example.ch', message: 'Hello', _mnx_ft: await token() }))
    body.append(name, value)
  const { headers } = await fetch(page, { method: 'POST', body, redirect: 'manual' })
  const thanks = await (await fetch(`http://${address}${headers.get('location') ?? ''}`)).text()
  const [, reference = ''] = /<dt>Reference<\/dt>\s*<dd><bdi>([^<]+)/.exec(thanks) ?? []
  t.regex(reference, /^[0-9A-F]{8}$/, thanks)

  const { body: receipt } = await send({ email: 'bea@example.ch', message: 'Hello' })
  t.regex(String((receipt as Row)['reference']), /^[0-9A-F]{8}$/)
  for (const q of [reference, reference.toLowerCase(), `${reference.slice(0, 4)}-${reference.slice(4)}`, `%23${reference}`]) {
    t.like(await submissions(`q=${q}`), [{ reference, answers: { email: 'ada@example.ch' } }], q)
    t.like((await rest.must('GET', `/v1/forms/submissions?q=${q}`))['data'], [{ reference, form_id: form }], q)
  }
  t.deepEqual(await submissions(`q=${reference.slice(0, 3)}`), [], 'a part of the reference is searched as a word')
  const [one] = await submissions(`q=${reference}`)
  t.like(await submissions(`q=${String(one?.['id'])}`), [{ reference }], 'the id is found too')
  t.like(await rest.must('GET', `${path}/submissions/${String(one?.['id'])}`), { reference })
  const query = `query { formSubmissions(id: "${form}", q: "${reference}") { nodes { reference } } }`
  t.deepEqual(await graphqlCaller(fixture).must(query), { formSubmissions: { nodes: [{ reference }] } })

  const exported = async (format: string) => (await rest.call('GET', `${path}/submissions/export?format=${format}`)).bytes.toString()
  t.regex(await exported('csv'), new RegExp(`"_version","_reference",[^\r]*\r\n[^\r]*,"${reference}",`))
  t.like(JSON.parse(await exported('json')), { data: { 0: { reference } } })
  const [event] = await waiting('the event arrives', receiver.hasReceived(1))
  t.is((JSON.parse(event?.body ?? '') as { data: Row }).data['reference'], reference)
  await fixture.daemon.formNotifier.idle()
  const { data } = await rest.must('GET', `/v1/traces?q=${reference}`)
  t.like(data, { length: 1, 0: { subject: `New ${reference}` } })
})

test('reference: the preview of the thank-you page shows one in the same format', async (t) => {
  await builtFormScripts()
  const { address } = await formFixture(t)
  const form = new URLSearchParams({ '~definition': JSON.stringify(definition), '~view': 'thanks', '~lang': 'en', email: 'ada@example.ch' })
  const headers = { origin: baseUrl, 'sec-fetch-site': 'same-origin', host: 'post.example.ch' }
  const shown = await (await fetch(`http://${address}/view/form`, { method: 'POST', body: form, headers })).text()
  t.regex(shown, /<dt>Reference<\/dt>\s*<dd><bdi>[0-9A-F]{8}</)
})
