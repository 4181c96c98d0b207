/** Resources of a form together: they move with the form, appear in its mails and its webhook, and are deleted with it. */
import test, { type ExecutionContext } from '#test'
import { dueNotices } from '#core/forms/notifications/notice-rows.ts'
import { traces } from '#core/trace/trace.ts'
import { readWholeContent } from '#store/content.ts'
import { unpack } from '#store/tuple.ts'
import type { Write } from '#store/kv.ts'
import { samples } from '../../../core/forms/file-samples.ts'
import { waiting } from '../../../support/waits.ts'
import { assertSound } from '../../../support/problems.ts'
import { WebhookReceiver, type Received } from '../../../support/web/webhook-receiver.ts'
import { refusal } from '../fixture/rest-fixture.ts'
import { multipartBody, multipartType } from './multipart-body.ts'
import { formFixture, type FormFixture } from './visitor.ts'

type Row = Readonly<Record<string, unknown>>

const team = 'team@example.ch'
const answer = 'Tell no one of the blue door.'
const schema = {
  version: 1,
  fields: [
    { key: 'email', type: 'email', label: 'Email', required: true },
    { key: 'message', type: 'textarea', label: 'Message' },
    { key: 'plan', type: 'select', label: 'Plan', options: ['gold', 'silver'].map((value) => ({ value, label: value })) },
    { key: 'cv', type: 'file_upload', label: 'CV' },
  ],
}
const logic = {
  version: 1,
  rules: [{ id: 'r', when: { field: 'message', op: 'eq', value: 'hide' }, then: [{ action: 'hide', target: 'plan' }] }],
}

interface Whole extends FormFixture {
  readonly receiver: WebhookReceiver
  /** Sends answers with a file; returns the id of the submission. */
  submit(token?: string): Promise<string>
  /** Waits until the webhook received this number of events in all. */
  events(count: number): Promise<readonly Row[]>
  mails(): Promise<readonly { readonly projectId: string; readonly text: string }[]>
}

/** Creates a form with files, a webhook and a notified member. */
async function wholeForm(t: ExecutionContext, digest = 'instant'): Promise<Whole> {
  const receiver = await new WebhookReceiver().listen()
  t.teardown(() => receiver[Symbol.asyncDispose]())
  const fixture = await formFixture(t, { schema, logic }, { hasMail: true })
  const { rest, path, post, token, daemon, database, organizationId } = fixture
  await fixture.addMember(team, 'developer')
  await rest.must('PUT', `${path}/notifications`, {
    ...{ from: 'forms@example.ch', recipients: [{ email: team, digest }], webhook_url: receiver.url },
  })
  return {
    ...fixture,
    receiver,
    async submit(given) {
      const data = JSON.stringify({ data: { email: 'ada@example.ch', message: answer }, _mnx_ft: given ?? (await token()) })
      const body = multipartBody([
        ['data', data],
        ['cv', samples.pdf, 'résumé.pdf'],
      ])
      const sent = await post(body, multipartType())
      t.is(sent.status, 201, sent.bytes.toString())
      return String((sent.body as Row)['id'])
    },
    events: async (count) =>
      (await waiting('the event arrives', receiver.hasReceived(count))).map(({ body }: Received) => JSON.parse(body) as Row),
    async mails() {
      await daemon.settled()
      const found = await database.all(traces, { organizationId })
      const notices = found.map(({ record }) => record).filter(({ door }) => door === 'form_notification')
      return Promise.all(
        notices.map(async ({ projectId, content }) => ({
          projectId,
          text: Buffer.from(await readWholeContent(database, organizationId, content)).toString(),
        })),
      )
    },
  }
}

test('mails and events name files, and a webhook test is a valid submission of the form', async (t) => {
  const fixture = await wholeForm(t)
  const { rest, path, submit, events, mails, submissions, publish } = fixture
  const id = await submit()
  const [event] = await events(1)
  const [{ files } = {}] = (await submissions()) as { files: Row[] }[]
  t.like(event?.['data'], {
    submission_id: id,
    answers: { message: answer, cv: files?.[0]?.['id'] },
    files: [{ id: files?.[0]?.['id'], field: 'cv', name: 'résumé.pdf', content_type: 'application/pdf', bytes: samples.pdf.length }],
  })
  t.false('test' in (event ?? {}))
  const [mail] = await mails()
  t.regex(mail?.text ?? '', /CV: r(?:é|=C3=A9)sum(?:é|=C3=A9)\.pdf/, 'without the id of the file')

  t.like(await rest.must('POST', `${path}/notifications/test`), { delivered: true, status_code: 204, error: null })
  const [, sample] = await events(2)
  t.like(sample, { type: 'form_submission', test: true, data: { version: 1, answers: { email: 'visitor@example.com', plan: 'gold' } } })
  t.regex(JSON.stringify(sample), /"files":\[\{"id":"fil_\w+","field":"cv","name":"sample\.pdf"/)
  await publish({
    logic: { version: 1, rules: [{ id: 'r', when: { field: 'email', op: 'not_empty' }, then: [{ action: 'hide', target: 'plan' }] }] },
  })
  fixture.receiver.answer = (response) => response.writeHead(500).end('no')
  t.like(await rest.must('POST', `${path}/notifications/test`), { delivered: false, status_code: 500, response_body: 'no' })
  const [, , hidden] = await events(3)
  t.like(hidden?.['data'], { version: 2 })
  t.notRegex(JSON.stringify(hidden), /"plan"/, 'a hidden field has no answer')
  t.is((await submissions()).length, 1)
  const { data } = await rest.must('GET', `/v1/webhooks/attempts?endpoint_id=${fixture.form}`)
  t.is((data as Row[]).length, 1, 'a test is not recorded')
  await rest.must('PUT', `${path}/notifications`, {})
  t.deepEqual(refusal(await rest.call('POST', `${path}/notifications/test`)).slice(0, 2), [409, 'conflict'])
})

test('a form moves with all its resources, also while a visitor fills it in', async (t) => {
  const fixture = await wholeForm(t)
  const { rest, path, submit, events, mails, token, addProject, withKey } = fixture
  const home = String((await rest.must('GET', path))['project_id'])
  const away = await addProject()
  const first = await submit()
  await events(1)
  await mails()
  const draft = { from: 'forms@example.ch', subject: 'Re', text: 'Thank you.' }
  const { id: draftId } = await rest.must('POST', `${path}/submissions/${first}/reply-drafts`, draft)
  const begun = await token()
  const query = `mutation { moveResource(resourceType: form, resourceId: "${fixture.form}", projectId: "${away}") { projectId } }`
  t.deepEqual(await rest.must('POST', '/v1/graphql', { query }), { data: { moveResource: { projectId: away } } })
  t.like(await rest.must('GET', path), { project_id: away, status: 'published' })
  const second = await submit(begun)
  const [, event] = await events(2)
  t.like(event?.['data'], { submission_id: second, project_id: away })
  t.deepEqual((await mails()).map(({ projectId }) => projectId).toSorted(), [home, away].toSorted())
  const [left, right] = [await withKey(['api:admin'], home), await withKey(['api:admin'], away)]
  const one = `${path}/submissions/${first}`
  const [file] = (await rest.must('GET', one))['files'] as Row[]
  const where = [path, `${path}/submissions`, one, `${one}/replies`, `${path}/notifications`, `${path}/analytics`]
  for (const address of where) {
    t.is((await left.call('GET', address)).status, 404, address)
    t.is((await right.call('GET', address)).status, 200, address)
  }
  const fileAddress = `${one}/files/${String(file?.['id'])}`
  t.deepEqual([(await left.call('GET', fileAddress)).status, (await right.call('GET', fileAddress)).status], [404, 302])
  t.is((await left.call('POST', `${path}/reply-drafts/${String(draftId)}/send`)).status, 404)
  const { trace_id } = await right.must('POST', `${path}/reply-drafts/${String(draftId)}/send`)
  t.like(await right.must('GET', `/v1/traces/${String(trace_id)}`), { project_id: away })
  t.deepEqual(((await left.must('GET', '/v1/forms/submissions'))['data'] as Row[]).length, 0)
  t.deepEqual(((await right.must('GET', '/v1/forms/submissions'))['data'] as Row[]).length, 2)
  await assertSound(t, fixture)
})

/** Returns the kinds of rows with one of these texts in key or value. */
async function rowsWith({ database }: FormFixture, texts: readonly string[]): Promise<readonly string[]> {
  const found = new Set<string>()
  for await (const { key, value } of database.kv.range({ start: Buffer.of(), end: Buffer.of(0xff) })) {
    const whole = Buffer.concat([key, value])
    if (texts.some((text) => whole.includes(text))) found.add(unpack(key).slice(0, 2).map(String).join(' '))
  }
  return [...found].map((name) => name.replace(/^\w*_\w+ /, '').trim()).toSorted()
}

test('deletion: of a submission with replies, file and event; of a form with all data', async (t) => {
  const fixture = await wholeForm(t, 'daily')
  const { rest, path, form, publicId, submit, events, daemon, clock, submissions } = fixture
  const [first, second, third] = [await submit(), await submit(), await submit()]
  await events(3)
  await daemon.settled()
  for (const id of [first, second, third])
    await rest.must('POST', `${path}/submissions/${id}/reply-drafts`, { from: 'forms@example.ch', subject: 'Re', text: answer })
  await rest.must('DELETE', `${path}/submissions/${first}`)
  t.deepEqual(await rowsWith(fixture, [first]), ['audit', 'form.digest', 'form.nonce'], "the webhook's attempts were deleted too")
  await rest.must('POST', `${path}/submissions/bulk`, { action: 'delete', ids: [second] })
  t.deepEqual(await rowsWith(fixture, [second]), ['audit', 'form.digest', 'form.nonce'])
  t.deepEqual(
    (await submissions()).map(({ id }) => id),
    [third],
  )
  await rest.must('DELETE', `${path}?confirm=Contact`)
  await daemon.settled()
  t.deepEqual(await rowsWith(fixture, [answer, '(Hello)']), [])
  for (const step of [2 * 86_400_000, 1000]) {
    clock.advance(step)
    await daemon.settled()
  }
  t.deepEqual(await rowsWith(fixture, [first, second, third]), ['audit'])
  const left = (await rowsWith(fixture, [form, publicId])).filter((name) => !name.startsWith('insight.')) // figures of the project
  t.deepEqual(left, ['audit', 'expire'])
  await assertSound(t, fixture)
})

test('digest: a crash between the mail and its due row sends it once, also a day later', async (t) => {
  const fixture = await wholeForm(t)
  const { kv, submit, mails, daemon, database, clock, failures } = fixture
  const has = (keys: readonly { readonly key: Uint8Array }[], name: string): boolean => keys.some(({ key }) => unpack(key)[1] === name)
  kv.beforeWrite = ({ sets, deletes }: Write) => {
    const isNotice = deletes.some((key) => unpack(key)[1] === 'form.notice' && unpack(key).at(-1) !== '')
    if (isNotice && !has(sets, traces.name)) throw new Error('the process ended before this')
  }
  await submit()
  await daemon.settled()
  kv.beforeWrite = undefined
  failures.length = 0
  clock.advance(25 * 3_600_000)
  t.is((await mails()).length, 1)
  clock.advance(60_000)
  t.is((await mails()).length, 1)
  t.deepEqual(await dueNotices(database, clock.now(), 10), [])
})

test('notifications of a form are replaced only at the revision of If-Match', async (t) => {
  const { rest, path } = await formFixture(t)
  const { headers, body } = await rest.call('GET', `${path}/notifications`)
  const tag = String(headers['etag'])
  t.is(tag, `"${String((body as Row)['revision'])}"`)
  const save = (subject_tmpl: string, revision: string) =>
    rest.call('PUT', `${path}/notifications`, { subject_tmpl }, { 'if-match': revision })
  const saved = await save('First', tag)
  t.is(saved.status, 200)
  t.deepEqual(refusal(await save('Second', tag)).slice(0, 2), [409, 'conflict'])
  t.is((await save('Second', String(saved.headers['etag']))).status, 200)
  t.is((await save('Third', '*')).status, 200)
  t.like(await rest.must('GET', `${path}/notifications`), { subject_tmpl: 'Third' })
})
