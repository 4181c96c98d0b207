/** Stores of earlier releases (test/fixtures/stores): they open, pass the checks, and their records are readable through the API. */
import { readdirSync } from 'node:fs'
import { cp, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import test, { type ExecutionContext } from '#test'
import { systemClock } from '#core/clock.ts'
import { alertChannels } from '#core/alerts/channels/alert-channel.ts'
import { billingKinds } from '#core/billing/billing-integrity.ts'
import { planTerms } from '#core/billing/plan-term.ts'
import { prices } from '#core/billing/price.ts'
import { findings } from '#core/findings/finding.ts'
import { firstSecrets } from '#core/first-secrets.ts'
import { queueActRecords } from '#core/delivery/acts/queue-act.ts'
import { queueHolds } from '#core/routing/queue-hold.ts'
import { destinationEvidence } from '#core/routing/destination-evidence.ts'
import { formDrafts, forms, formVersions } from '#core/forms/form.ts'
import { formNotifications } from '#core/forms/notifications/notification.ts'
import { formReplies } from '#core/forms/replies/reply.ts'
import { formSubmissions } from '#core/forms/submissions/submission.ts'
import { dkimKeyContext, sendingDomains } from '#core/domains/sending-domain.ts'
import { ingestSources, openHmacSecret } from '#core/ingest-sources/ingest-source.ts'
import { secretContext, webhookEndpoints } from '#core/webhooks/endpoint.ts'
import { receiverHealth } from '#core/webhooks/receiver-health.ts'
import { earlierKinds, integrityChecks, recordKinds } from '#core/integrity.ts'
import { migrations } from '#core/migrations.ts'
import { siteKinds } from '#core/sites/site-integrity.ts'
import { traces } from '#core/trace/trace.ts'
import { Change, encode } from '#store/change.ts'
import { LevelKv } from '#store/level/level-kv.ts'
import { decodeRecord, encodeRecord } from '#store/record-version.ts'
import { globalKey, type Identified, type RecordKind } from '#store/record-kind.ts'
import { formatKey, formOf } from '#store/upgrade/store-form.ts'
import { pack, unpack } from '#store/tuple.ts'
import { verify, type VerifyReport } from '#store/verify/verify.ts'
import { env, fill, operatorKey, type Made } from '../fixtures/stores/make.ts'
import { FakeClock } from '../support/fake-clock.ts'
import { startDaemon, type StartedDaemon } from '../support/daemon/start-daemon.ts'
import { assertSound } from '../support/problems.ts'
import { temporaryFolder } from '../support/daemon/workspace.ts'

const laterBilling = billingKinds.filter((kind) => ![planTerms, prices].includes(kind as never))
const fixtures = new URL('../fixtures/stores/', import.meta.url)

/** Copies a stored fixture into a data folder. */
async function copyOf(t: ExecutionContext, name: string): Promise<{ readonly dataDir: string; readonly made: Made }> {
  const folder = await temporaryFolder('older-store')
  t.teardown(() => folder[Symbol.asyncDispose]())
  const dataDir = join(folder.path, 'kept')
  await cp(new URL(`${name}/store`, fixtures), join(dataDir, 'store'), { recursive: true })
  return { dataDir, made: JSON.parse(await readFile(new URL(`${name}/made.json`, fixtures), 'utf8')) as Made }
}

/** Opens the store with the current daemon, with the clock one minute after its creation. */
const opened = (t: ExecutionContext, { dataDir, made }: Awaited<ReturnType<typeof copyOf>>): Promise<StartedDaemon> =>
  startDaemon(t, { env: { ...env, POSTERN_DATA_DIR: dataDir }, replacements: { clock: new FakeClock(made.at + 60_000) } })

const checked = ({ database }: StartedDaemon): Promise<VerifyReport> => verify(database, integrityChecks(database))

test('first form: every record fits the current schema and gives the same bytes', async (t) => {
  const { dataDir } = await copyOf(t, 'first')
  await using kv = await LevelKv.open(join(dataDir, 'store'), { onFailure: (error) => t.fail(error.message) })
  const seen = new Set<string>()
  for await (const entry of kv.range({ start: Buffer.of(0), end: Buffer.of(0xff) })) {
    const kind = [...recordKinds, ...earlierKinds].find(({ name }) => name === unpack(entry.key)[1])
    if (!kind) continue
    seen.add(kind.name)
    const record = decodeRecord(kind as never, entry)
    t.deepEqual(kind.schema.parse(record) as unknown, record, kind.name)
    if (kind.upgrades.length === 0) t.deepEqual(encodeRecord(kind as never, record), Buffer.from(entry.value), kind.name)
  }
  // removed again, in an earlier form, or introduced after this store
  const absent: readonly object[] = [
    firstSecrets,
    alertChannels,
    findings,
    receiverHealth,
    traces,
    destinationEvidence,
    queueActRecords,
    queueHolds,
    forms,
    formDrafts,
    formVersions,
    formSubmissions,
    formReplies,
    formNotifications,
    ...siteKinds,
    ...laterBilling,
  ]
  const expected = [...recordKinds, ...earlierKinds].filter((kind) => !absent.includes(kind)).map(({ name }) => name)
  t.deepEqual([...seen].toSorted(), expected.toSorted())
})

test('first form: the daemon opens it without findings and returns its records by REST', async (t) => {
  const copy = await copyOf(t, 'first')
  const daemon = await opened(t, copy)
  const { records, problems } = await checked(daemon)
  t.deepEqual(problems, [], 'ledger: verify')
  t.true(records > 60, String(records))
  const { rest } = daemon
  const count = async (path: string): Promise<number> => (await Array.fromAsync(rest.rows(path))).length
  const lists = {
    ...{ '/v1/api-keys': 2, '/v1/destinations': 3, '/v1/domains': 1, '/v1/failover/policy': 1, '/v1/inboxes': 3, '/v1/projects': 2 },
    ...{ '/v1/inbound-routes': 1, '/v1/ingest-sources': 1, '/v1/inspect/tests': 1, '/v1/invitations': 1 },
    ...{ '/v1/publishable-keys': 1, '/v1/replays': 1, '/v1/routing/rules': 1, '/v1/smtp-credentials': 1, '/v1/suppressions': 1 },
    ...{ '/v1/templates': 1, '/v1/webhooks': 1, '/v1/unsubscribes': 1 },
  }
  const found: Record<string, number> = {}
  for (const path of Object.keys(lists)) found[path] = await count(path)
  t.deepEqual(found, lists)
  const [endpoint] = await Array.fromAsync(rest.rows('/v1/webhooks'))
  t.like(endpoint, { format: 'native', verification_key: null, header_names: [] })
  t.like(await rest.must('PATCH', `/v1/webhooks/${String(endpoint?.['id'])}`, { format: 'brevo' }), { format: 'brevo' })
  const statusOf = async (id: string): Promise<unknown> => (await rest.must('GET', `/v1/traces/${id}`))['status']
  const { sentTraceId, replayedTraceId, waitingTraceId } = copy.made
  t.deepEqual(await Promise.all([sentTraceId, replayedTraceId, waitingTraceId].map(statusOf)), ['bounced', 'queued', 'queued'])
  t.is((await rest.must('DELETE', `/v1/messages/scheduled/${waitingTraceId}`))['status'], 'canceled')
  const account = await daemon.client(operatorKey).must('GET', `/operator/v1/organizations/${daemon.organizationId}`)
  t.is((account['prices'] as unknown[]).length, 1)
  await assertSound(t, daemon)
})

test('first form: encrypted values can be decrypted', async (t) => {
  const { part, organizationId } = await opened(t, await copyOf(t, 'first'))
  const { database, secrets } = part('core')
  const all = async <R extends Identified>(kind: RecordKind<R>): Promise<R[]> =>
    (await database.all(kind, { organizationId })).map(({ record }) => record)
  for (const { id, sealedSecret } of await all(webhookEndpoints)) t.regex(secrets.open(sealedSecret, secretContext(id)) ?? '', /^whsec_/)
  for (const source of await all(ingestSources)) t.truthy(openHmacSecret(secrets, source), 'the key of a source')
  for (const { id, keys } of await all(sendingDomains))
    for (const { selector, sealedPrivateKey } of keys)
      if (sealedPrivateKey !== null)
        t.regex(secrets.open(sealedPrivateKey, dkimKeyContext(id, selector)) ?? '', /^-----BEGIN PRIVATE KEY-----/)
  t.truthy(await part('oauth').signingKeys.current(), 'the keys that sign access tokens')
})

test('newer store: refused if a record kind has a higher version', async (t) => {
  const copy = await copyOf(t, 'first')
  const daemon = await opened(t, copy)
  await daemon.database.commit(new Change().set(globalKey('versions'), encode({ trace: 2 })))
  await daemon.stop()
  await t.throwsAsync(daemon.again(), {
    name: 'StoreUnavailable',
    message: /^The store was written by a newer release: this one cannot read its records of the kinds trace\. Start that release,/,
  })
})

/** All stores except the first one, by release or day. */
const later = readdirSync(fixtures, { withFileTypes: true }).flatMap((one) => (one.isDirectory() && one.name !== 'first' ? [one.name] : []))

for (const name of later)
  test(`the store ${name} opens in the current form, passes checks, and is usable`, async (t) => {
    const copy = await copyOf(t, name)
    const daemon = await opened(t, copy)
    await assertSound(t, daemon)
    t.is((await formOf(daemon.database.kv)).format, migrations.length)
    const statusOf = async (id: string): Promise<unknown> => (await daemon.rest.must('GET', `/v1/traces/${id}`))['status']
    const { sentTraceId, replayedTraceId, waitingTraceId } = copy.made
    t.deepEqual(await Promise.all([sentTraceId, replayedTraceId, waitingTraceId].map(statusOf)), ['bounced', 'queued', 'queued'])
    for (const path of ['/v1/destinations', '/v1/templates', '/v1/webhooks', '/v1/forms', '/v1/suppressions', '/v1/queue/acts'])
      t.true((await Array.fromAsync(daemon.rest.rows(path))).length > 0, path)
    t.is((await daemon.rest.must('DELETE', `/v1/messages/scheduled/${waitingTraceId}`))['status'], 'canceled')
    await assertSound(t, daemon)
  })

test('pending mail about credits of an earlier release is removed', async (t) => {
  const daemon = await startDaemon(t, { env })
  const { organizationId } = daemon
  const change = new Change().set(globalKey('credit.alert', organizationId), encode(95)).set(formatKey, encode(migrations.length - 1))
  await daemon.database.commit(change)
  await daemon.stop()
  const again = await daemon.again()
  t.is(await again.database.kv.get(pack(globalKey('credit.alert', organizationId))), undefined)
  await assertSound(t, again)
})

test('stores: one exists for every release in the changelog', async (t) => {
  const changelog = await readFile(new URL('../../CHANGELOG.md', import.meta.url), 'utf8')
  const releases = [...changelog.matchAll(/^## (\d+\.\d+\.\d+) – (\S+)$/gm)].map(([, version, date]) => ({ version, date }))
  t.true(releases.length > 0)
  t.deepEqual(
    releases.filter(({ version = '', date }) => date !== 'unreleased' && !later.includes(version)),
    [],
  )
})

test('newer store: refused if its format is newer', async (t) => {
  const copy = await copyOf(t, 'first')
  const daemon = await opened(t, copy)
  await daemon.database.commit(new Change().set(formatKey, encode(migrations.length + 1)))
  await daemon.stop()
  await t.throwsAsync(daemon.again(), {
    name: 'StoreUnavailable',
    message: /in format \d+: this one knows formats up to \d+\. Start that release,/,
  })
})

test('store generator: creates a record of every kind', async (t) => {
  const daemon = await startDaemon(t, { env, replacements: { clock: systemClock } })
  await fill(daemon)
  await daemon.stop()
  const again = await daemon.again({ replacements: { clock: new FakeClock(Date.now() + 60_000) } })
  await assertSound(t, again)
})
