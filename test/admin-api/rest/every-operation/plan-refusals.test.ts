/**
 * Every limit of a plan over REST. A missing feature is 403. A used-up count is 429 (spec "Limits" 2), or 402 if the specification says
 * that. A limit without a row here does not compile.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import test from '#test'
import type { IncludedFeature, Plan, PlanName } from '#config/plans/plans.ts'
import { plans } from '#config/plans/plans.ts'
import type { RestAnswer } from '../../../support/daemon/rest.ts'
import { addDestination, errorOf, startFixture, type Fixture } from '../fixture/rest-fixture.ts'

const plain = { from: 'shop@example.ch', to: 'ada@example.ch', text: 'Thank you.' }
const send = ({ rest }: Fixture, fields: object = {}): Promise<RestAnswer> => rest.call('POST', '/v1/messages', { ...plain, ...fields })

type Ask = (fixture: Fixture) => Promise<RestAnswer>

const features: Readonly<Record<Exclude<IncludedFeature, 'overageBilled' | 'tracking'>, { readonly ask: Ask; readonly message: string }>> =
  {
    attachments: {
      ask: (fixture) => send(fixture, { attachments: [{ filename: 'a.txt', content: 'YQ==', content_type: 'text/plain' }] }),
      message: 'sends no attachments; link to the files, or raise the plan to pro or enterprise.',
    },
    scheduledSends: {
      ask: (fixture) => send(fixture, { send_at: new Date(fixture.clock.now() + 3_600_000).toISOString() }),
      message: 'does not include scheduled sends; leave send_at out to send now, or raise the plan to pro or enterprise.',
    },
    bulkReplay: {
      ask: ({ rest }) => rest.call('POST', '/v1/replays', { filter: {} }),
      message: 'does not include bulk replay; retry traces one by one, or raise the plan to pro or enterprise.',
    },
    orgDestinations: {
      ask: async ({ rest }) => rest.call('PATCH', `/v1/destinations/${await addDestination(rest)}`, { scope: 'org' }),
      message: 'marks no destination organization-wide; raise the plan to pro or enterprise.',
    },
    subProjects: {
      async ask({ rest }) {
        const { id: parent_id } = await rest.must('POST', '/v1/projects', { name: 'Platform' })
        return rest.call('POST', '/v1/projects', { name: 'Tenant', parent_id })
      },
      message: 'has no partitions of projects; raise the plan to pro or enterprise.',
    },
  }

for (const [feature, { ask, message }] of Object.entries(features))
  test(`a plan without ${feature} refuses it with 403 and names the plans that include it`, async (t) => {
    for (const plan of ['anonymous', 'free', 'basic', 'pro', 'enterprise'] as const satisfies PlanName[]) {
      const answer = await ask(await startFixture(t, { plan }))
      if (plans[plan][feature as keyof typeof features]) {
        t.true(answer.status < 300, `${plan}: ${answer.bytes.toString()}`)
        continue
      }
      const error = { code: 'feature_disabled', message: `The plan ${plan} ${message}`, next_action: 'upgrade' }
      t.deepEqual([answer.status, errorOf(answer)], [403, { ...error, details: { plan, included_in: ['pro', 'enterprise'] } }])
      t.is(answer.headers['retry-after'], undefined, 'waiting does not help')
    }
  })

test('an override of the operator enables a feature for one organization only', async (t) => {
  const fixture = await startFixture(t, { plan: 'basic' })
  await fixture.operator.must('PUT', `/operator/v1/organizations/${fixture.organizationId}/overrides`, { attachments: true })
  t.is((await features.attachments.ask(fixture)).status, 200)
  t.is((await features.bulkReplay.ask(fixture)).status, 403)
})

test('plans without tracking and VERP switch them off and refuse no request', async (t) => {
  const fixture = await startFixture(t, { plan: 'free' })
  const { verp_enabled, warnings } = await fixture.rest.must('POST', '/v1/smtp-credentials', { verp_enabled: true })
  t.false(verp_enabled)
  t.like(warnings, [{ path: 'verp_enabled' }])
  t.is(
    (await send(fixture, { html: '<a href="https://example.ch/">x</a>', click_tracking_enabled: true, open_tracking_enabled: true }))
      .status,
    200,
  )
})

const again =
  (path: string, body: (n: number) => object): Ask =>
  async ({ rest }) => {
    await rest.must('POST', path, body(1))
    return rest.call('POST', path, body(2))
  }
const secondSend: Ask = async (fixture) => {
  await send(fixture)
  return send(fixture)
}

type Counted = { readonly [Limit in keyof Plan]-?: undefined extends Plan[Limit] ? Limit : never }[keyof Plan]
interface Cap {
  readonly ask: Ask
  readonly answer: readonly [status: number, code: string, nextAction: string]
  readonly mayWait?: boolean
}
const upgrade = [429, 'quota_exhausted', 'upgrade'] as const
const nothing = 'refuses nothing by REST'

const caps: Readonly<Record<Counted, Cap | typeof nothing>> = {
  smtpCredentials: { ask: again('/v1/smtp-credentials', () => ({})), answer: upgrade },
  teamOrganizations: { ask: again('/v1/organizations', () => ({ name: 'Team' })), answer: upgrade },
  templates: {
    ask: again('/v1/templates', (n) => ({ slug: `t-${n}`, name: 'T', subject_tmpl: 'T', text_tmpl: 'T' })),
    answer: upgrade,
  },
  sendsPerDay: { ask: secondSend, answer: upgrade, mayWait: true },
  capturesPerMonth: { ask: secondSend, answer: [402, 'quota_exhausted_captures', 'upgrade'] },
  // SMTP refuses incoming mail with 452 4.2.2 until stored mail is deleted; see room.test.ts.
  formFileMebibytes: nothing,
  inboundMebibytes: nothing,
  // Visitors have no key; see forms/public-forms.test.ts.
  formSubmissionsPerDay: nothing,
  tracesStored: nothing,
  retentionDays: nothing,
  monthlyFeeRappen: nothing,
}

const wireName = (limit: string): string => limit.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)

for (const [limit, cap] of Object.entries(caps))
  if (cap !== nothing)
    test(`a used-up count is not reported as a missing feature: ${limit}`, async (t) => {
      const fixture = await startFixture(t, { plan: 'basic' })
      await fixture.operator.must('PUT', `/operator/v1/organizations/${fixture.organizationId}/overrides`, { [wireName(limit)]: 1 })
      const answer = await cap.ask(fixture)
      const { code, next_action } = errorOf(answer)
      t.deepEqual([answer.status, code, next_action], [...cap.answer])
      t.is(answer.headers['retry-after'] !== undefined, cap.mayWait ?? false)
    })

test('a plan with a limit of 0 does not suggest removing a resource', async (t) => {
  const { rest } = await startFixture(t, { plan: 'free' })
  t.like(errorOf(await rest.call('POST', '/v1/organizations', { name: 'Team' })), {
    code: 'quota_exhausted',
    message: 'The plan free allows 0 team organizations; raise the plan.',
  })
})

test('a project cap above the plan is 429, and billable volume is 402', async (t) => {
  const { rest, operator, organizationId } = await startFixture(t, { plan: 'free' })
  const { project_id } = await rest.must('GET', '/v1/projects/me')
  const above = await rest.call('PATCH', `/v1/projects/${String(project_id)}`, { monthly_capture_cap: 5001 })
  t.deepEqual([above.status, errorOf(above).next_action], [429, 'upgrade'])
  await operator.must('PUT', `/operator/v1/organizations/${organizationId}/overrides`, { sends_per_day: 1 })
  await rest.must('POST', '/v1/messages', plain)
  const unpaid = await rest.call('POST', '/v1/messages', plain)
  t.deepEqual([unpaid.status, errorOf(unpaid).code, errorOf(unpaid).next_action], [402, 'quota_exceeded', 'settle_payment'])
})

/** Yields the source text of each `new Refusal('code', …)`, up to the closing parenthesis. */
function* refusalsIn(code: string): Generator<{ readonly file: string; readonly text: string }> {
  const top = join(import.meta.dirname, '../../../..')
  for (const folder of ['daemon', 'admin-api', 'protocols', 'ingest'])
    for (const name of readdirSync(join(top, folder), { recursive: true, encoding: 'utf8' })) {
      if (!name.endsWith('.ts')) continue
      const source = readFileSync(join(top, folder, name), 'utf8')
      for (const { index } of source.matchAll(new RegExp(`Refusal\\(\\s*'${code}'`, 'g'))) {
        let end = source.indexOf('(', index) + 1
        for (let depth = 1; depth > 0 && end < source.length; end++) depth += source[end] === '(' ? 1 : source[end] === ')' ? -1 : 0
        yield { file: join(folder, name), text: source.slice(index, end) }
      }
    }
}

test('every 429 has a retry delay, unless a count of the plan is used up', (t) => {
  for (const code of ['rate_limit_exceeded', 'project_budget_exhausted'])
    for (const { file, text } of refusalsIn(code)) t.regex(text, /retryAfterSeconds/, `${file}: ${text}`)
  const lasting = [...refusalsIn('quota_exhausted')].filter(({ text }) => !text.includes('retryAfterSeconds'))
  t.deepEqual(lasting.map(({ file }) => file).toSorted(), [
    'daemon/core/administration/projects.ts', // a cap above that of the plan
    'daemon/core/inbound-routes/route-intake.ts', // rendered by SMTP as 452 4.2.2, try again later
    'daemon/core/plan/limits.ts', // counts of the plan
  ])
})
