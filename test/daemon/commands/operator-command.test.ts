/** `postern operator`: its arguments, and its tables of a daemon's responses. */
import test from '#test'
import { loadConfig } from '#config/settings/load.ts'
import { operate } from '../../../daemon/commands/operator/operator-command.ts'
import { readOperatorArguments, type OperatorRequest } from '../../../daemon/commands/operator/operator-arguments.ts'
import { siteSettings } from '../../admin-api/sites/site-client.ts'
import { operatorKey, startFixture } from '../../admin-api/rest/fixture/rest-fixture.ts'

const read = (line: string) => readOperatorArguments(line.split(' '))

test('postern operator: each command becomes one request', (t) => {
  const request = (line: string) => {
    const { method, path, body } = read(line) as OperatorRequest
    return [method, path.replace('/operator/v1/', ''), body]
  }
  t.deepEqual(request('organizations'), ['GET', 'organizations', undefined])
  t.deepEqual(request('show org_1'), ['GET', 'organizations/org_1', undefined])
  t.deepEqual(request('show ../x?y'), ['GET', 'organizations/..%2Fx%3Fy', undefined])
  t.deepEqual(request('usage org_1 --period 2026-11'), ['GET', 'organizations/org_1/usage?period=2026-11', undefined])
  t.deepEqual(request('invoice org_1'), ['GET', 'organizations/org_1/invoice-preview', undefined])
  t.deepEqual(request('export --period=2026-11'), ['GET', 'invoices/export?period=2026-11', undefined])
  t.deepEqual(request('plan org_1 pro'), ['PUT', 'organizations/org_1/plan', { plan: 'pro' }])
  const overrides = { sends_per_day: 7, attachments: true, tracking: false, templates: -1, smtp_credentials: null }
  t.deepEqual(request('limit org_1 sends_per_day=7 attachments=yes tracking=no templates=none smtp_credentials=plan'), [
    'PUT',
    'organizations/org_1/overrides',
    overrides,
  ])
  t.deepEqual(request('flag org_1 forms=on verp=off webhooks=default'), [
    'PUT',
    'organizations/org_1/flags',
    { forms: true, verp: false, webhooks: null },
  ])
  t.deepEqual(request('price org_1 captures=5 --from 2026-12'), [
    'PUT',
    'organizations/org_1/prices',
    { prices: [{ axis: 'captures', unit_price_urp: 5, effective_from: '2026-12' }] },
  ])
  t.deepEqual(request('payment org_1 manual_ok'), ['PUT', 'organizations/org_1/payment-state', { payment_state: 'manual_ok' }])
  t.deepEqual(request('credits org_1'), ['GET', 'organizations/org_1/credits', undefined])
  t.deepEqual(request('credits org_1 12.5 --purchased'), ['POST', 'organizations/org_1/credits', { credits: '12.5', kind: 'purchased' }])
  t.deepEqual(request('close-month 2026-10'), ['POST', 'invoices/close', { period: '2026-10' }])
  t.deepEqual(request('invoices --period 2026-10'), ['GET', 'invoices?period=2026-10', undefined])
  t.deepEqual(request('export --final'), ['GET', 'invoices/export?of=final', undefined])
  t.deepEqual(request('paid inv_1'), ['PUT', 'invoices/inv_1/payment', { state: 'paid' }])
  t.deepEqual(request('void inv_1 --note wrong --reopen'), ['POST', 'invoices/inv_1/void', { reason: 'wrong', reopen: true }])
  t.deepEqual(request('sites'), ['GET', 'sites', undefined])
  t.deepEqual(request('sites a&b'), ['GET', 'sites?q=a%26b', undefined])
  t.deepEqual(request('takedown shop --note court'), ['PUT', 'sites/shop/takedown', { status: 451, reason: 'court' }])
  t.deepEqual(request('takedown sit_1 --note x --status 410'), ['PUT', 'sites/sit_1/takedown', { status: 410, reason: 'x' }])
  t.deepEqual(request('let-back shop'), ['DELETE', 'sites/shop/takedown', undefined])
  t.is(read('plan --help'), 'help')
})

test('postern operator: wrong arguments are explained', (t) => {
  const wrong: readonly [string, RegExp][] = [
    ['plans', /^operator has no subcommand "plans"\. Did you mean plan\?/],
    ['toString', /^operator has no subcommand "toString"/],
    ['plan org_1', /^Usage: postern operator plan ORG PLAN\./],
    ['flag org_1 forms', /^"forms" must have the form NAME=VALUE/],
    ['flag org_1 forms=yes', /^"forms=yes" must have the form NAME=VALUE, with a value/],
    ['limit org_1 templates=-2', /^"templates=-2" must have the form NAME=VALUE/],
    ['limit org_1 templates=constructor', /^"templates=constructor" must have the form NAME=VALUE/],
    ['price org_1 captures=1.5', /^"captures=1.5" must have the form NAME=VALUE/],
    ['show org_1 --verbose', /--verbose/],
    ['void inv_1', /^void needs --note/],
    ['takedown shop', /^takedown needs --note/],
    ['takedown shop --note x --status 500', /^--status is 451/],
  ]
  for (const [line, message] of wrong) {
    const answer = read(line)
    t.regex((answer as { readonly wrong?: string }).wrong ?? '', message, line)
  }
})

test('postern operator: responses become tables', async (t) => {
  const { address, organizationId, operator, rest, addOrganization } = await startFixture(t, { plan: 'basic', settings: siteSettings })
  const { rest: other } = await addOrganization('free')
  const config = loadConfig({ env: { POSTERN_OPERATOR_KEY: operatorKey }, readFile: () => '' })
  const run = async (line: string): Promise<string> => {
    let text = ''
    const request = read(`${line} --url http://${address}`) as OperatorRequest
    t.is(await operate(config, request, { write: (part) => (text += part) }), 0)
    return text
  }
  const list = (await run('organizations')).split('\n')
  t.regex(list[0] ?? '', /^ID +NAME +PLAN +PAYMENT +CREATED$/)
  t.regex(list.join('\n'), new RegExp(`${organizationId}  Default  basic +none `))
  t.is(list.length, 4)
  t.is(await run('logins'), 'No SMTP logins failed in the last 15 minutes.\n')
  t.deepEqual(JSON.parse(await run('logins --json')), { data: [] })
  const account = await run(`plan ${organizationId} pro`)
  t.regex(account, /^id +org_/)
  t.regex(account, /sends_per_day +50000 +plan\n/)
  t.regex(await run(`limit ${organizationId} sends_per_day=none`), /sends_per_day +none +agreed\n/)
  t.regex(await run(`flag ${organizationId} forms=off`), /FLAG +STATE\nforms +off\n/)
  t.regex(await run(`usage ${organizationId}`), /LIMIT +USED NOW +LIMIT\nsends_today +0 +none\n/)
  t.regex(await run(`invoice ${organizationId} --period 2030-01`), /Total +52\.97\n$/)
  t.regex(await run('export'), /^"organization_id","organization","axis"/)
  for (const slug of ['gipfel', 'alpenblick']) await rest.must('POST', '/v1/sites', { slug })
  await other.must('POST', '/v1/sites', { slug: 'alphorn' })
  const sites = await run('sites')
  t.regex(sites, /^ID +NAME +ORGANIZATION +OWNER +STATE +DOMAINS\n.* alpenblick .* served\n.* alphorn .*\n.* gipfel /)
  t.regex(await run('sites alp'), /alpenblick .*\n.*alphorn .*\n$/)
  t.is(await run('sites nothing'), 'No website matches.\n')
  const page = await operator.must('GET', '/operator/v1/sites?limit=2')
  t.like(await operator.must('GET', `/operator/v1/sites?limit=2&cursor=${String(page['next_cursor'])}`), {
    data: [{ slug: 'gipfel', organization_id: organizationId, organization_name: 'Default', is_paused: false, takedown: null }],
    next_cursor: null,
  })
  t.regex(await run('takedown gipfel --note court'), /answers +451\nreason +court\n$/)
  t.regex(await run(`sites ${organizationId}`), /gipfel .* taken down \(451\)\n/)
  t.regex(await run('let-back gipfel'), /answers +served\n/)
  await t.throwsAsync(run('let-back nobody'), { message: 'No site has this id or name.' })
  t.like(JSON.parse(await run(`show ${organizationId} --json`)), { id: organizationId, plan: 'pro' })
  t.like(await operator.must('GET', `/operator/v1/organizations/${organizationId}`), {
    overrides: { sends_per_day: -1 },
    flags: { forms: false },
  })
})

test("postern operator: prints the daemon's error messages", async (t) => {
  const { address } = await startFixture(t)
  const withKey = (key: string) => loadConfig({ env: { POSTERN_OPERATOR_KEY: key }, readFile: () => '' })
  const run = (line: string, key = operatorKey, url = `http://${address}`) =>
    operate(key === '' ? loadConfig({ env: {}, readFile: () => '' }) : withKey(key), read(`${line} --url ${url}`) as OperatorRequest, {
      write() {},
    })
  await t.throwsAsync(run('show org_nobody'), { message: 'No organization has this id.' })
  await t.throwsAsync(run('organizations', `svcop_${'x'.repeat(43)}`), { message: 'This is not the operator key of the service.' })
  await t.throwsAsync(run('organizations', ''), { message: /^POSTERN_OPERATOR_KEY is not set\. Set it/ })
  await t.throwsAsync(run('organizations', operatorKey, 'http://127.0.0.1:1'), {
    message: /^No daemon responds at http:\/\/127\.0\.0\.1:1\./,
  })
  const other = await startFixture(t, { hasOperator: false })
  await t.throwsAsync(run('show org_1', operatorKey, `http://${other.address}`), { message: /has no operator key/ })
})
