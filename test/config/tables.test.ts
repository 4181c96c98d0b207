/** Tables of plans and presets, compared with the specification and the data. */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import test from '#test'
import { planNames, plans, type includedFeatures } from '#config/plans/plans.ts'
import { findOAuth2Provider } from '#config/mail/oauth2-providers.ts'
import { findPreset, keepsEnvelopeFrom, presetIds } from '#config/mail/presets.ts'

test('plans: limits equal the specification', (t) => {
  const none = undefined
  const cells = planNames.map((name) => {
    const { sendsPerDay, tracesStored, retentionDays, smtpCredentials, teamOrganizations, monthlyFeeRappen } = plans[name]
    return [name, sendsPerDay, tracesStored, retentionDays, smtpCredentials, teamOrganizations, monthlyFeeRappen]
  })
  // prettier-ignore
  t.deepEqual(cells, [
    ['anonymous',     100,     100,    7,    0,    0,    0],
    ['free',          100,   1_000,    7,    1,    0,    0],
    ['basic',       5_000,  50_000,   30,   10,    1, 1000],
    ['pro',        50_000, 500_000,   90,  100,  100, 4900],
    ['enterprise',   none,    none, none, none, none, none],
  ])
  t.deepEqual(
    planNames.map((name) => [plans[name].capturesPerMonth, plans[name].templates]),
    [
      [none, 3],
      [5000, 3],
      [none, 3],
      [none, none],
      [none, none],
    ],
  )
  t.deepEqual(
    planNames.filter((name) => plans[name].overageBilled),
    ['free'],
  )
})

test('plans: inbound storage exceeds the largest mail and grows with the plan', (t) => {
  const octets = planNames.map((name) => (plans[name].inboundMebibytes ?? Infinity) * 2 ** 20)
  const largest = 40 * 2 ** 20
  for (const [at, kept] of octets.entries()) t.true(kept > (octets[at - 1] ?? largest))
})

test('plans: features equal the specification', (t) => {
  const including = (feature: (typeof includedFeatures)[number]) => planNames.filter((name) => plans[name][feature])
  for (const feature of ['attachments', 'scheduledSends', 'bulkReplay', 'orgDestinations', 'subProjects'] as const)
    t.deepEqual(including(feature), ['pro', 'enterprise'], feature)
  t.deepEqual(including('tracking'), ['basic', 'pro', 'enterprise'])
})

test('findPreset(): returns host, port and security', (t) => {
  t.deepEqual(findPreset('infomaniak'), {
    id: 'infomaniak',
    name: 'Infomaniak',
    host: 'mail.infomaniak.com',
    hostIsTemplate: false,
    port: 465,
    security: 'tls',
    kind: 'webhoster',
    country: 'CH',
    username: 'full email address',
    fixedUsername: undefined,
    auth: ['PLAIN', 'LOGIN'],
    oauth2: undefined,
    keepsEnvelopeFrom: true,
    notes: ['At most 100 recipients a message.', 'Use this host name only, never the MX or the domain.'],
  })
  t.is(findPreset('metanet')?.security, 'starttls')
  t.is(findPreset('nobody'), undefined)
  t.is(findPreset('__proto__'), undefined)
})

test('keepsEnvelopeFrom(): identifies a server by preset or host', (t) => {
  t.false(keepsEnvelopeFrom('gmail', 'smtp.gmail.com'))
  t.false(keepsEnvelopeFrom(null, 'smtp.gmail.com'))
  t.false(keepsEnvelopeFrom('ses', 'email-smtp.eu-central-1.amazonaws.com'))
  t.true(keepsEnvelopeFrom('postfix', 'smtp.gmail.com'), 'the preset was chosen')
  t.true(keepsEnvelopeFrom('postfix', 'mail.example.ch'))
  t.true(keepsEnvelopeFrom(null, 'mail.example.ch'))
  t.true(keepsEnvelopeFrom('gone', 'mail.example.ch'))
})

test('presets: ids are unique, and each host is usable or marked as a template', async (t) => {
  const text = await readFile(join(import.meta.dirname, '../../config/mail/smtp-presets.json'), 'utf8')
  t.is(presetIds.length, (text.match(/"id":/g) ?? []).length, 'ids are unique')
  for (const id of presetIds) {
    const preset = findPreset(id)!
    t.is(preset.hostIsTemplate, preset.host.includes('{'), id)
    t.true(preset.port > 0 && preset.port < 65536, id)
  }
})

test('presets: Microsoft and Google offer XOAUTH2 with the token source', (t) => {
  for (const id of ['microsoft365', 'outlook', 'gmail', 'google-workspace']) {
    const preset = findPreset(id)!
    t.true(preset.auth.includes('XOAUTH2'), id)
    t.truthy(preset.oauth2, id)
    t.is(preset.oauth2, findOAuth2Provider(preset.host), id)
  }
  t.is(findOAuth2Provider('__proto__'), undefined)
})
