/** Files of forms: accepted and refused files, errors, storage, and cleanup. */
import { request } from 'node:http'
import test, { type ExecutionContext } from '#test'
import { integrityChecks } from '#core/integrity.ts'
import { unpack, within } from '#store/tuple.ts'
import { verify } from '#store/verify/verify.ts'
import type { RestAnswer } from '../../../support/daemon/rest.ts'
import { Seeded } from '../../../support/seeded.ts'
import { emptyZip, largePng, pdfWith, samples, testVirus } from '../../../core/forms/file-samples.ts'
import { codeOf } from '../fixture/publishable-page.ts'
import { errorOf, type FixtureOptions } from '../fixture/rest-fixture.ts'
import { multipartBody, multipartType, type Part } from './multipart-body.ts'
import { formFixture, type FormFixture } from './visitor.ts'

type Row = Readonly<Record<string, unknown>>

const mebi = 1024 * 1024
const schema = {
  version: 1,
  fields: [
    { key: 'email', type: 'email', label: 'Email', required: true },
    { key: 'cv', type: 'file_upload', label: 'CV', required: true },
    { key: 'photo', type: 'file_upload', label: 'Photo', accept: ['png', 'jpeg'], max_bytes: 1000 },
    { key: 'other', type: 'file_upload', label: 'Other' },
  ],
}
const logic = {
  version: 1,
  rules: [{ id: 'r', when: { field: 'email', op: 'ends_with', value: '.com' }, then: [{ action: 'hide', target: 'other' }] }],
}

interface UploadFixture extends FormFixture {
  /** Sends the answers and these files with a fresh token. */
  upload(files: readonly Part[], answers?: Row): Promise<RestAnswer>
  /** Number of content rows in the store. */
  contents(): Promise<number>
  problems(): Promise<readonly string[]>
}

async function uploadFixture(t: ExecutionContext, options: FixtureOptions = {}): Promise<UploadFixture> {
  const fixture = await formFixture(t, { schema, logic }, options)
  const { post, token, database, organizationId } = fixture
  return {
    ...fixture,
    upload: async (files, answers = { email: 'ada@example.ch' }) =>
      post(multipartBody([['data', JSON.stringify({ data: answers, _mnx_ft: await token() })], ...files]), multipartType()),
    contents: async () => (await Array.fromAsync(database.kv.range(within([organizationId, 'content'])))).length,
    problems: async () => (await verify(database, integrityChecks(database))).problems,
  }
}

const cv: Part = ['cv', samples.pdf, 'cv.pdf', 'application/pdf']
const codes = (answer: RestAnswer): unknown =>
  Object.fromEntries(
    Object.entries((errorOf(answer).details?.['fields'] ?? {}) as Record<string, { code: string }[]>).map(([key, all]) => [
      key,
      all.map(({ code }) => code).join(),
    ]),
  )

test('files are stored with their submission, under their detected type', async (t) => {
  const { upload, submissions, contents, problems, get, rest, path, removals, operator, organizationId } = await uploadFixture(t)
  t.like((await get()).body, { uploads: { enabled: true, max_files: 5, max_bytes: 10 * mebi } })
  const large = largePng(700_000)
  const answer = await upload([cv, ['photo', samples.jpeg, '../Grüße.png', 'text/html'], ['other', large, 'scan']])
  t.is(answer.status, 201, answer.bytes.toString())
  const [row = {}] = await submissions()
  const files = row['files'] as Row[]
  const common = { status: 'unscanned', virus: null }
  t.like(files, [
    { field: 'cv', name: 'cv.pdf', content_type: 'application/pdf', bytes: samples.pdf.length, ...common },
    { field: 'photo', name: 'Grüße.jpg', content_type: 'image/jpeg', bytes: samples.jpeg.length, ...common },
    { field: 'other', name: 'scan.png', content_type: 'image/png', bytes: large.length, ...common },
  ])
  t.deepEqual(row['answers'], { email: 'ada@example.ch', cv: files[0]?.['id'], photo: files[1]?.['id'], other: files[2]?.['id'] })
  t.is(await contents(), 5, 'the large one has three rows')
  t.deepEqual(await problems(), [])
  t.is((await submissions('q=scan.png')).length, 1)
  const lines = (await rest.call('GET', `${path}/submissions/export`)).bytes.toString().split('\r\n')
  t.true(lines[1]?.includes('"ada@example.ch","cv.pdf","Grüße.jpg","scan.png"'), lines[1])
  const { limits } = (await operator.must('GET', `/operator/v1/organizations/${organizationId}/usage`)) as unknown as { limits: Row[] }
  t.like(
    limits.find(({ name }) => name === 'form_file_mebibytes'),
    { used: 1 },
  )
  t.is((await rest.call('DELETE', `${path}/submissions/${String(row['id'])}`)).status, 204)
  t.is(await contents(), 0)
  await upload([cv])
  t.is(await contents(), 1)
  await rest.must('DELETE', `${path}?confirm=Contact`)
  await removals.idle()
  t.deepEqual([await contents(), await problems()], [0, []])
})

test('invalid files are reported by field, and none of them is stored', async (t) => {
  const { upload, submissions, contents, problems, clock } = await uploadFixture(t)
  const wrong = async (files: readonly Part[], answers?: Row): Promise<unknown> => {
    clock.advance(60_000)
    const answer = await upload(files, answers)
    return [codeOf(answer), codes(answer)]
  }
  const malformed = '400 malformed_submission'
  t.deepEqual(await wrong([]), [malformed, { cv: 'file_missing' }])
  t.deepEqual(await wrong([['cv', Buffer.alloc(0), '']]), [malformed, { cv: 'file_missing' }], 'no file was chosen')
  t.deepEqual(await wrong([['cv', Buffer.alloc(0), 'empty.pdf']]), [malformed, { cv: 'file_type_not_allowed' }])
  t.deepEqual(await wrong([['cv', Buffer.from('<svg onload="x"/>'), 'cv.png', 'image/png']]), [malformed, { cv: 'file_type_not_allowed' }])
  t.deepEqual(await wrong([['cv', emptyZip, 'cv.pdf']]), [malformed, { cv: 'file_type_not_allowed' }])
  t.deepEqual(await wrong([['cv', Buffer.concat([samples.png, emptyZip]), 'cv.png']]), [malformed, { cv: 'file_type_not_allowed' }])
  t.deepEqual(await wrong([['cv', largePng(600_000).subarray(0, 500_000), 'cv.png']]), [malformed, { cv: 'file_damaged' }])
  t.deepEqual(
    await wrong([cv, ['photo', samples.gif, 'p.gif']]),
    [malformed, { photo: 'file_type_not_allowed' }],
    'a type that the field does not accept',
  )
  t.deepEqual(await wrong([cv, ['photo', largePng(2000), 'p.png']]), [malformed, { photo: 'file_too_large' }])
  t.deepEqual(await wrong([cv, cv]), [malformed, { cv: 'too_many_files' }])
  t.deepEqual(await wrong([cv, ['nothing', samples.png, 'x.png']]), [malformed, { nothing: 'unexpected_file' }])
  t.deepEqual(await wrong([cv, ['photo', Buffer.from('x'), 'x.png']], { email: 'ada@' }), [
    malformed,
    { email: 'invalid_email', photo: 'file_type_not_allowed' },
  ])
  const six: Part[] = ['a', 'b', 'c', 'd', 'e'].map((key) => [key, samples.gif, 'x.gif'])
  t.is((codes(await upload([...six, cv])) as Row)['cv'], 'too_many_files')
  const tooLarge = await upload([['cv', largePng(10 * mebi + 1), 'cv.png']])
  t.deepEqual([codeOf(tooLarge), codes(tooLarge)], ['413 file_too_large', { cv: 'file_too_large' }])
  t.is(errorOf(tooLarge).details?.['max_bytes'], 10 * mebi)
  t.deepEqual([await submissions(), await contents(), await problems()], [[], 0, []])
  clock.advance(60_000)
  t.is((await upload([['cv', largePng(10 * mebi), 'cv.png']])).status, 201, 'the largest accepted size')
})

test('files of hidden fields and honeypots are not stored; repeated ones are stored once', async (t) => {
  const { upload, submissions, contents, post, token, clock } = await uploadFixture(t)
  t.is((await upload([cv, ['other', samples.png, 'x.png']], { email: 'ada@example.com' })).status, 201)
  t.like(await submissions(), [{ files: [{ field: 'cv' }] }])
  t.is(await contents(), 1)
  const trap = [['data', JSON.stringify({ email: 'x@example.ch', _mnx_ft: await token(), _mnx_hp: 'x' })], cv] as Part[]
  t.is((await post(multipartBody(trap), multipartType())).status, 201)
  t.like(await submissions('status=spam'), [{ spam_reasons: ['honeypot'], files: [] }])
  const twice = multipartBody([['email', 'bea@example.ch'], ['_mnx_ft', await token()], cv])
  const [first, second] = [await post(twice, multipartType()), await post(twice, multipartType())]
  t.is((first.body as Row)['id'], (second.body as Row)['id'])
  t.is(await contents(), 2)
  const other = Buffer.from(twice.toString('latin1').replace('(Hello)', '(Adieu)'), 'latin1')
  clock.advance(60_000)
  t.is((await post(other, multipartType())).status, 201)
  t.like((await submissions('status=spam'))[0], { spam_reasons: ['token_reuse'], files: [{ field: 'cv' }] })
})

test('multipart bodies have limits, any boundary length works, and broken ones are refused', async (t) => {
  const { post, token, contents, clock, daemon, kv, address, publicId, failures, problems } = await uploadFixture(t)
  const sent = async (parts: readonly Part[], mark?: string): Promise<RestAnswer> =>
    post(multipartBody([['_mnx_ft', await token()], ...parts], mark), multipartType(mark))
  const email: Part = ['email', 'ada@example.ch']
  for (const mark of ['a', '-', "'()+_,-./:=?".slice(0, 3), 'x'.repeat(70)]) t.is((await sent([email, cv], mark)).status, 201, mark)
  t.is((await sent([['data', Buffer.from('{"email":"ada@example.ch"}'), 'blob', 'application/json'], cv])).status, 201, 'data as a blob')
  t.is(codeOf(await sent([email, cv, ['note', 'x'.repeat(70_000)]])), '413 request_too_large')
  clock.advance(60_000)
  t.is(codeOf(await sent([email, ...Array.from({ length: 3000 }, (): Part => ['n', ''])])), '413 request_too_large')
  t.is(codeOf(await post('x', 'multipart/form-data')), '400 malformed_submission')
  const whole = multipartBody([['_mnx_ft', await token()], email, ['cv', largePng(400_000), 'cv.png']])
  const random = new Seeded(5)
  for (let round = 0; round < 40; round++) {
    if (round % 8 === 0) clock.advance(3_600_000)
    const cut = whole.subarray(0, round === 0 ? whole.length - 2 : random.between(0, whole.length - 10))
    const { status } = await post(cut, multipartType())
    t.true([400, 413, 429].includes(status) || round === 0, `${cut.length}: ${status}`)
  }
  for (let round = 0; round < 60; round++) {
    clock.advance(3_600_000)
    const broken = Buffer.from(multipartBody([email, cv, ['photo', samples.png, 'p.png']]))
    for (let change = random.between(1, 30); change > 0; change--) broken[random.between(0, broken.length - 1)] = random.between(0, 255)
    t.true((await post(broken, multipartType())).status < 500)
  }
  const before = await contents()
  const halfway = request(`http://${address}/v1/public/forms/${publicId}/submissions`, {
    method: 'POST',
    headers: { 'content-type': multipartType(), 'content-length': whole.length },
  })
  halfway.on('error', () => {})
  halfway.write(whole.subarray(0, 390_000))
  await kv.holds('a part of the file is stored', async () => (await contents()) > before)
  halfway.destroy()
  await daemon.settled()
  t.is(await contents(), before, 'the stored part is removed')
  t.deepEqual([failures, await problems()], [[], []])
})

test('closed forms, foreign origins and rate limits refuse submissions with files too', async (t) => {
  const { upload, rest, path, publish, contents, post, token } = await uploadFixture(t)
  await publish({ settings: { allowed_origins: ['https://shop.example.ch'] } })
  for (const file of [samples.pdf, largePng(700_000)])
    t.is(codeOf(await upload([['cv', file, 'cv']])), '403 origin_not_allowed', `${file.length} octets`)
  await publish({})
  const body = multipartBody([['email', 'ada@'], ['_mnx_ft', await token()], cv])
  const tries = await Promise.all(Array.from({ length: 62 }, () => post(body, multipartType())))
  const codes_ = new Set(tries.map(codeOf))
  t.true(codes_.has('429 rate_limit_exceeded'), [...codes_].join(' '))
  t.true([...codes_].every((code) => /^(?:400 malformed_submission|429 rate_limit_exceeded|503 overloaded)$/.test(String(code))))
  const begun = multipartBody([['email', 'ada@example.ch'], ['_mnx_ft', await token(120_000)], cv])
  await rest.must('POST', `${path}/archive`)
  t.is(codeOf(await post(begun, multipartType())), '404 form_not_found')
  t.is(await contents(), 0)
})

test('file fields named like properties of objects are refused as unknown', async (t) => {
  const { upload, submissions, clock } = await uploadFixture(t)
  for (const name of ['nosuch', 'constructor', 'toString', 'valueOf', 'hasOwnProperty', '__proto__']) {
    clock.advance(60_000)
    const answer = await upload([cv, [name, samples.pdf, 'x.pdf'], [name, samples.pdf, 'y.pdf']])
    t.is(codeOf(answer), '400 malformed_submission', name)
    t.deepEqual(codes(answer), Object.fromEntries([[name, 'unexpected_file,unexpected_file']]), name)
  }
  t.deepEqual(await submissions(), [])
})

test('plans without file space accept no files; others accept files up to their space', async (t) => {
  const { upload, send, get, operator, organizationId, publish, contents, clock } = await uploadFixture(t)
  const overrides = `/operator/v1/organizations/${organizationId}/overrides`
  await operator.must('PUT', overrides, { form_file_mebibytes: 1 })
  t.is((await upload([['cv', largePng(mebi - 1000), 'cv.png']])).status, 201)
  const full = await upload([['cv', largePng(2000), 'cv.png']])
  t.is(codeOf(full), '429 quota_exhausted')
  t.is(errorOf(full).next_action, 'retry_later')
  t.is(await contents(), 4)
  await operator.must('PUT', overrides, { form_file_mebibytes: 0 })
  t.like((await get()).body, { uploads: { enabled: false } })
  t.is(codeOf(await upload([cv])), '400 file_uploads_unavailable')
  t.is(codeOf(await send({ email: 'ada@example.ch' })), '400 file_uploads_unavailable', 'a file is required')
  await operator.must('PUT', overrides, { form_file_mebibytes: -1 })
  clock.advance(600_000)
  await publish({ schema: { version: 1, fields: [{ key: 'email', type: 'email', label: 'Email' }] }, logic: { version: 1, rules: [] } })
  t.is(codeOf(await upload([cv])), '400 file_uploads_unavailable', 'the form has no field for files')
  t.is(await contents(), 4)
})

test('without a scanner: downloads need a setting, and known viruses are deleted', async (t) => {
  const { upload, submissions, rest, path, contents, problems } = await uploadFixture(t, {
    settings: { POSTERN_UNSCANNED_DOWNLOADS: 'refuse' },
  })
  const answer = await upload([cv, ['other', pdfWith(testVirus), 'invoice.pdf']])
  t.is(answer.status, 201)
  const [{ id, files } = {}] = (await submissions()) as { id: string; files: Row[] }[]
  t.like(files, [{ status: 'unscanned' }, { status: 'infected', virus: 'Eicar-Test-Signature', name: 'invoice.pdf' }])
  t.is(await contents(), 1, 'no row of the infected file remains')
  const file = (at: number) => rest.call('GET', `${path}/submissions/${String(id)}/files/${String(files?.[at]?.['id'])}`)
  const blocked = await file(0)
  t.deepEqual([codeOf(blocked), errorOf(blocked).next_action], ['409 scan_pending', 'ask_operator'])
  t.is(codeOf(await file(1)), '410 file_infected')
  t.deepEqual(await problems(), [])
  const open = await uploadFixture(t)
  await open.upload([
    ['cv', samples.jpeg, 'Äpfel.jpg'],
    ['other', samples.pdf, 'other.pdf'],
  ])
  const [row] = (await open.submissions()) as { id: string; files: Row[] }[]
  const where = `${open.path}/submissions/${String(row?.id)}/files/${String(row?.files[0]?.['id'])}`
  const redirect = await open.rest.call('GET', where)
  const link = String(redirect.headers['location'])
  t.is(redirect.status, 302)
  t.regex(link, /^\/v1\/form-files\/sub_\w+\.fil_\w+\.\w+\.[\w-]{22}$/)
  const given = await open.client('').call('GET', link)
  t.is(given.status, 200)
  t.deepEqual(given.bytes, samples.jpeg)
  t.like(given.headers, {
    'content-type': 'image/jpeg',
    'content-length': String(samples.jpeg.length),
    'content-security-policy': "default-src 'none'; sandbox",
    'x-content-type-options': 'nosniff',
    'content-disposition': `attachment; filename="_pfel.jpg"; filename*=UTF-8''%C3%84pfel.jpg`,
  })
  t.is(codeOf(await open.client('').call('GET', `${link.slice(0, -2)}${link.endsWith('AA') ? 'BB' : 'AA'}`)), '404 not_found')
  const [submission, fileId, until = '', mac] = link.split('.')
  for (const forged of [
    [submission, row?.files[1]?.['id'], until, mac],
    [submission, fileId, (Number.parseInt(until, 36) + 1).toString(36), mac],
  ])
    t.is(codeOf(await open.client('').call('GET', forged.join('.'))), '404 not_found', 'a changed link')
  const flags = `/operator/v1/organizations/${open.organizationId}/flags`
  await open.operator.must('PUT', flags, { forms: false })
  t.is(codeOf(await open.client('').call('GET', link)), '404 not_found', 'forms are switched off')
  await open.operator.must('PUT', flags, { forms: true })
  t.is((await open.client('').call('GET', link)).status, 200)
  open.clock.advance(60_001)
  t.is(codeOf(await open.client('').call('GET', link)), '404 not_found', 'a minute later')
  const outsider = (await open.addOrganization()).rest
  t.is((await outsider.call('GET', where)).status, 404)
})

test('a failed write of a file is 503, stores nothing, and the page keeps the answers', async (t) => {
  const { upload, kv, contents, problems, submissions, address, publicId, token } = await uploadFixture(t)
  kv.beforeWrite = ({ sets }) => {
    if (sets.some(({ key }) => unpack(key)[1] === 'content')) throw new Error('no space')
  }
  const large: Part = ['cv', largePng(700_000), 'cv.png']
  const refused = await upload([large])
  t.is(codeOf(refused), '503 upload_failed')
  t.deepEqual([refused.headers['retry-after'], errorOf(refused).next_action], ['30', 'retry_later'])
  const page = await fetch(`http://${address}/f/${publicId}`, {
    method: 'POST',
    headers: { 'content-type': multipartType() },
    body: multipartBody([['email', 'ada@example.ch'], ['_mnx_ft', await token()], large]),
  })
  t.is(page.status, 503)
  t.regex(await page.text(), /value="ada@example\.ch"/)
  kv.beforeWrite = undefined
  t.deepEqual([await submissions(), await contents(), await problems()], [[], 0, []])
  t.is((await upload([large])).status, 201)
})
