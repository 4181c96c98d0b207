/** Findings from facts; the documentation explains every one of them. */
import { readFileSync } from 'node:fs'
import test from '#test'
import { catalogIn } from '#config/catalogs/catalog-in.ts'
import { blocklistFindings, reverseFindings } from '#core/doctor/address-findings.ts'
import { databaseFindings, objectFindings } from '#core/doctor/database-findings.ts'
import { breakerFinding, parkedFinding, probeFinding, sourceFindings } from '#core/doctor/delivery-findings.ts'
import { domainFindings } from '#core/doctor/domain-findings.ts'
import type { DkimKey } from '#core/domains/sending-domain.ts'
import { siteDomainFindings } from '#core/doctor/site-domain-check.ts'
import {
  alertFindings,
  backupFindings,
  certificateFindings,
  clockFindings,
  damageFindings,
  diskFindings,
  fileFindings,
  keyFindings,
  lagFindings,
  memoryFindings,
  nodeFindings,
  logFindings,
  orderFindings,
} from '#core/doctor/process-findings.ts'
import { inOrder, inWords } from '#core/doctor/report.ts'
import { observed, type Observed } from '#core/findings/finding.ts'
import { factsOf, findingKinds, severities } from '#core/findings/kinds.ts'
import { column } from '../../support/column.ts'

const minute = 60_000
const day = 24 * 60 * minute
const now = Date.UTC(2030, 0, 15)
/** Returns the kinds, whose texts must be complete. */
function ids(found: readonly Observed[]): unknown[] {
  for (const one of found) assertComplete(one)
  return column(found, 'kind')
}

function assertComplete(one: Observed): void {
  const { summary, fix } = inWords(one)
  if (!/^\S.*\S$/.test(summary) || !/^\S.*\S$/.test(fix)) throw new Error(`${one.kind} has no text for ${JSON.stringify(one.params)}`)
  if (JSON.stringify(one.params).length > 2048) throw new Error(`${one.kind} has values of more than 2 KiB`)
}

const summaryOf = (found: readonly Observed[]): string => found.map((one) => inWords(one).summary).join('\n')

test('doctor: its documentation lists exactly the findings for the operator, with severity', (t) => {
  const chapter = readFileSync(new URL('../../../admin-api/docs/doctor.md', import.meta.url), 'utf8')
  const rows = [...chapter.matchAll(/^\| `([a-z_]+\.[a-z_]+)` +\| (\w+) +\| (.+?) +\| (.+?) +\|$/gm)]
  const told = rows.map(([, id = '', severity = '']) => `${id} ${severity}`)
  t.deepEqual(
    told.toSorted(),
    findingKinds
      .filter((kind) => factsOf(kind).audience !== 'owner' && Object.hasOwn(catalogIn('findings', 'en').summaries, kind))
      .map((kind) => `${kind} ${factsOf(kind).severity}`)
      .toSorted(),
  )
})

test('findings: disk space, open files, backups and damage, by their limits', (t) => {
  const disk = { dataDir: '/d', lowBytes: 100 }
  t.deepEqual(ids(diskFindings({ ...disk, freeBytes: 99 })), ['disk.low'])
  t.deepEqual(ids(diskFindings({ ...disk, freeBytes: 299 })), ['disk.filling'])
  t.deepEqual(diskFindings({ ...disk, freeBytes: 300 }), [])
  const lost = { lines: 2, at: now - 60 * minute, problem: undefined }
  t.deepEqual(ids(logFindings(lost, now)), ['log.lines_dropped'])
  t.deepEqual(logFindings(lost, now + 1), [])
  t.deepEqual(logFindings({ lines: 0, at: undefined, problem: undefined }, now), [])
  t.is(
    summaryOf(logFindings({ ...lost, lines: 1, problem: 'ENOSPC: no space left on device, write' }, now)),
    'One log line was dropped since the start, the latest at 2030-01-14T23:00:00.000Z. The latest failed (ENOSPC).',
  )
  t.deepEqual(ids(fileFindings({ open: 900, limit: 1024, needed: 5000 })), ['files.nearly_used'])
  t.deepEqual(ids(fileFindings({ open: 9, limit: 1024, needed: 5000 })), ['files.limit_low'])
  t.deepEqual(fileFindings({ open: 9, limit: 5000, needed: 5000 }), [])
  t.deepEqual(ids(memoryFindings(383 * 1_048_576)), ['memory.limit_low'])
  t.deepEqual(memoryFindings(384 * 1_048_576), [])
  t.deepEqual(fileFindings({ open: undefined, limit: undefined, needed: 5000 }), [], 'a system without this information')
  t.deepEqual(ids(backupFindings(undefined, now)), ['backup.none'])
  t.deepEqual(ids(backupFindings(now - 8 * day, now)), ['backup.old'])
  t.deepEqual(backupFindings(now - 7 * day, now), [])
  t.is(summaryOf(backupFindings(undefined, now)), 'There has been no backup yet.')
  t.regex(summaryOf(backupFindings(undefined, now, 'database')), /^No backup of this store by postern backup is known, and the database/)
  t.deepEqual(damageFindings([]), [])
  const damaged = damageFindings([{ sentence: 'One is damaged.' }, { sentence: 'Two is.' }])
  t.deepEqual(ids(damaged), ['store.damaged'])
  t.is(summaryOf(damaged), 'The store is damaged: One is damaged. One more problem exists.')
  t.deepEqual(
    ['22.20.0', '24.11.1'].flatMap((version) => ids(nodeFindings(version))),
    ['machine.node', 'machine.node'],
  )
  t.is(summaryOf(nodeFindings('24.12.0')) + summaryOf(nodeFindings('26.0.0')), '')
  t.deepEqual(ids(alertFindings('ops@example.org', false)), ['alerts.no_mail'])
  t.deepEqual(alertFindings(null, false), [])
})

test('a database has findings on settings, age, connections, standbys and clock', (t) => {
  const server = {
    shown: 'postgresql://host/db',
    version: '16.4',
    unsafe: [],
    standbys: [],
    forgottenCopy: null,
    isArchived: false,
    clockLagMs: 100,
  }
  const facts = { ...server, connections: { used: 77, limit: 97 } }
  t.deepEqual(databaseFindings(facts), [])
  t.deepEqual(ids(databaseFindings({ ...facts, unsafe: ['fsync'] })), ['database.unsafe'])
  t.deepEqual(ids(databaseFindings({ ...facts, version: '14.20' })), ['database.old'])
  t.deepEqual(ids(databaseFindings({ ...facts, version: '15.0' })), [])
  t.deepEqual(ids(databaseFindings({ ...facts, connections: { used: 78, limit: 97 } })), ['database.connections'])
  const standbys = [
    { name: 'near', lagSeconds: 29 },
    { name: 'far', lagSeconds: 30 },
  ]
  t.like(databaseFindings({ ...facts, standbys }), { 0: { kind: 'database.standby_late', subject: 'far' }, length: 1 })
  t.deepEqual(ids(databaseFindings({ ...facts, standbys })), ['database.standby_late'])
  t.deepEqual(ids(databaseFindings({ ...facts, forgottenCopy: '12 MB' })), ['database.forgotten_copy'])
  t.is(
    summaryOf(databaseFindings({ ...facts, clockLagMs: -7000 })),
    'The clock of the machine is 7 seconds ahead, compared with the database.',
  )
  t.deepEqual(ids(databaseFindings({ problem: 'It is away.' })), ['database.away'])
  t.deepEqual(objectFindings(undefined), [])
  t.deepEqual(ids(objectFindings('It is full.')), ['objects.away'])
})

test('a certificate has findings on remaining days, name and issuer', (t) => {
  type Seen = Parameters<typeof certificateFindings>[0]['certificate']
  const judged = (certificate: Seen, isPublic = true) =>
    ids(certificateFindings({ host: 'mail.example.org', isPublic, isOrdered: false, now, certificate }))
  const good = { beginsAt: now - 60 * day, expiresAt: now + 30 * day, isSelfSigned: false, coversHost: true }
  t.deepEqual(judged(good), [])
  t.deepEqual(judged({ ...good, expiresAt: now + 13 * day }), ['certificate.expiring'])
  t.deepEqual(judged({ ...good, expiresAt: now - 1 }), ['certificate.expired'])
  t.deepEqual(judged({ ...good, coversHost: false }), ['certificate.name'])
  t.deepEqual(judged({ ...good, isSelfSigned: true }), ['certificate.self_signed'])
  t.deepEqual(
    judged({ ...good, isSelfSigned: true, expiresAt: now + 10 * day }, false),
    [],
    'the next start renews a self-signed certificate',
  )
  const short = { ...good, beginsAt: now - 2 * day }
  t.deepEqual(judged({ ...short, expiresAt: now + 4 * day }), [], 'a six-day certificate just after its renewal time')
  t.deepEqual(judged({ ...short, beginsAt: now - 5 * day, expiresAt: now + day }), ['certificate.expiring'])
  t.deepEqual(judged('POSTERN_TLS_CERT: no.'), ['certificate.unusable'])
  t.deepEqual(ids(orderFindings({ certificate: good })), ['certificate.renewal_failed'])
  t.deepEqual(ids(orderFindings({ certificate: undefined })), ['certificate.renewal_failed'])
  t.deepEqual(judged(undefined), ['certificate.self_signed'], 'the first start creates one')
  t.deepEqual(judged(undefined, false), [])
})

test('a clock jump is reported for a day', (t) => {
  t.deepEqual(clockFindings({ now, jump: undefined }), [])
  t.deepEqual(clockFindings({ now, jump: { ms: 59_000, at: now } }), [])
  const back = clockFindings({ now, jump: { ms: -90_000, at: now } })
  t.deepEqual(ids(back), ['clock.jumped'])
  t.regex(summaryOf(back), /jumped back by 90 seconds/)
  t.deepEqual(clockFindings({ now, jump: { ms: 90_000, at: now - day - 1 } }), [])
})

test('blocklist codes: listed, refused to this name server, and wildcard answers', (t) => {
  const [address, zone] = ['192.0.2.7', 'zen.spamhaus.org']
  const [listed] = blocklistFindings([{ address, zone, codes: ['127.0.0.4', '127.0.0.10'] }])
  const { id, summary, fix } = inWords(listed ?? observed('backup.none', ''))
  t.is(id, 'address.listed')
  t.regex(summary, /zen\.spamhaus\.org \(127\.0\.0\.4, 127\.0\.0\.10, XBL: an infected machine or open proxy\)/)
  t.regex(fix, /check\.spamhaus\.org/)
  t.deepEqual(ids(blocklistFindings([{ address, zone: 'bl.example', codes: ['127.0.0.2'] }])), ['address.listed'])
  t.deepEqual(
    ['127.255.255.252', '127.255.255.254', '127.255.255.255'].flatMap((code) => ids(blocklistFindings([{ address, zone, codes: [code] }]))),
    ['blocklist.refused', 'blocklist.refused', 'blocklist.refused'],
  )
  t.deepEqual(blocklistFindings([{ address, zone, codes: ['198.51.100.1'] }]), [])
  t.deepEqual(blocklistFindings([{ address, zone, codes: [] }]), [])
})

test('a reverse name must exist and resolve back', (t) => {
  const address = '192.0.2.7'
  const judged = (...names: { name: string; addresses: string[] }[]) => ids(reverseFindings([{ address, names }], 'mail.example.org'))
  t.deepEqual(judged(), ['address.no_reverse_name'])
  t.deepEqual(judged({ name: 'a.example', addresses: ['192.0.2.8'] }), ['address.reverse_mismatch'])
  t.deepEqual(judged({ name: 'a.example', addresses: [] }, { name: 'b.example', addresses: [address] }), [])
})

test("a domain has findings on its keys, its records, and the service's needs", (t) => {
  const key = { algorithm: 'rsa', publicKey: 'AAAA', sealedPrivateKey: 'x', createdAt: 0, retiredAt: null } as const
  const domain = { domain: 'example.ch', status: 'verified', keys: [{ ...key, selector: 'a', state: 'active' }] } as const
  const record = { type: 'TXT', expected: 'v=spf1 ~all', required: false, hint: '' } as const
  const expected = [
    { ...record, purpose: 'dkim', name: 'a._domainkey.example.ch' },
    { ...record, purpose: 'dkim', name: 'b._domainkey.example.ch' },
    { ...record, purpose: 'spf', name: 'example.ch' },
    { ...record, purpose: 'dmarc', name: '_dmarc.example.ch' },
    { ...record, purpose: 'bounce_mx', type: 'MX', name: 'bounces.example.org' },
    { ...record, purpose: 'bounce_spf', name: 'bounces.example.org' },
  ] as const
  const checks = (verdict: 'ok' | 'missing' | 'mismatch' | 'error') =>
    expected.map(({ purpose, name }) => ({ purpose, name, verdict, found: [], hint: 'Publish it.' }))
  const found = (verdict: Parameters<typeof checks>[0], of: Parameters<typeof domainFindings>[0]['domain'] = domain) =>
    domainFindings({ domain: of, expected, checks: checks(verdict) })
  t.deepEqual(found('ok'), [])
  const other = { ...domain, keys: [...domain.keys, { ...key, selector: 'b', state: 'pending' as const }] }
  t.deepEqual(
    found('missing', other).map(({ kind, subject }) => [kind, subject]),
    [
      ['domain.dkim', 'example.ch'],
      ['domain.spf', 'example.ch'],
      ['domain.dmarc', 'example.ch'],
      ['domain.bounce_mx', 'bounces.example.org'],
      ['domain.bounce_spf', 'bounces.example.org'],
    ],
    'an unused key is no finding',
  )
  t.regex(summaryOf(found('mismatch')), /^The SPF record of example\.ch is wrong\.$/m)
  const kinds = ['domain.dkim', 'domain.spf', 'domain.dmarc', 'domain.bounce_mx', 'domain.bounce_spf']
  t.deepEqual([...new Set(ids(found('mismatch')))], kinds)
  t.deepEqual(ids(found('missing', { ...domain, keys: [] })), ['domain.pending'])
  t.deepEqual(ids(found('error')), ['domain.lookup_failed'])
  const lost = { ...domain, status: 'failed', verifiedAt: 1 } as const
  const [rsa, ed25519] = [
    { ...key, selector: 'a', state: 'pending' },
    { ...key, selector: 'b', algorithm: 'ed25519', state: 'active' },
  ] as const
  const dkimOf = (verdict: Parameters<typeof checks>[0], keys: readonly DkimKey[]): string =>
    summaryOf(found(verdict, { ...lost, keys }).filter(({ kind }) => kind === 'domain.dkim'))
  const named = 'The DKIM record of example.ch at a._domainkey.example.ch'
  t.is(dkimOf('missing', [rsa]), `${named} is missing. Mail from example.ch is not signed.`)
  t.is(dkimOf('ok', [rsa]), `${named} is published again, but not verified yet. Mail from example.ch is not signed.`)
  t.is(
    dkimOf('mismatch', [rsa, ed25519]),
    `${named} is wrong. Mail from example.ch has no RSA signature, and many receivers read no other.`,
  )
})

test('findings: open circuit breakers, and sources silent for days', (t) => {
  const destination = { id: 'dst_1', name: 'P', projectId: 'prj_1' }
  const error = { code: 'connect_refused', message: 'reply of the host' }
  const cause = { code: 'faults_in_row', failed: 5, attempts: 5, error } as const
  const resting = (since: number, phase: 'open' | 'closed' = 'open') =>
    breakerFinding({ destination, fallbacks: ['Q'] }, { phase, since, cause })
  t.deepEqual(ids(resting(now)), ['destination.resting'])
  t.deepEqual(resting(now, 'closed'), [])
  t.is(
    summaryOf(resting(now - 5 * minute)),
    'The destination P has been paused since 2030-01-14T23:55:00.000Z: its host refuses the connection. Q delivers its mail meanwhile.',
  )
  const source = { id: 'src_1', label: 'mx', provider: 'postfix', imap: null, createdAt: now - 9 * day } as const
  const imap = { host: 'h', port: 993, username: 'u', sealedPassword: 's' as never, mailbox: 'INBOX', pollIntervalSeconds: 60 }
  const judged = (facts: Partial<Parameters<typeof sourceFindings>[0]>) =>
    ids(sourceFindings({ source, seen: undefined, poll: undefined, ...facts }, now))
  t.deepEqual(judged({}), ['source.never_seen'])
  t.deepEqual(judged({ source: { ...source, createdAt: now - day } }), [])
  t.deepEqual(judged({ seen: { at: now - 3 * day, agent: null } }), ['source.silent'])
  t.deepEqual(judged({ seen: { at: now - 2 * day, agent: null } }), [])
  const failing = { lastPolledAt: now - 61 * minute, lastError: 'The login failed', lastErrorAt: now, checkpoint: null }
  t.deepEqual(judged({ source: { ...source, imap }, poll: failing }), ['source.poll_failing'])
  t.deepEqual(judged({ source: { ...source, imap }, poll: { ...failing, lastPolledAt: now - minute } }), [])
  t.deepEqual(judged({ source: { ...source, imap }, poll: { ...failing, lastError: null } }), [])
})

test('findings: failed probes by the class of their error, parked deliveries, keys and clocks', (t) => {
  const destination = { id: 'dst_1', name: 'P', projectId: 'prj_1' }
  const probed = (step: string, code?: string) => [probeFinding({ destination, fallbacks: [] }, { step, code })]
  t.deepEqual(ids(probed('resolve', 'dns_timeout')), ['destination.probe_failed'])
  t.is(
    summaryOf([...probed('resolve', 'dns_timeout'), ...probed('auth'), ...probed('ready', 'unheard_of')]),
    ['its host name could not be looked up', 'its provider refuses the login', 'its provider does not accept mail']
      .map((cause) => `The destination P cannot be used: ${cause}. Its mail waits in the queue.`)
      .join('\n'),
  )
  const parked = { endpointId: 'whk_1', projectId: 'prj_1', name: 'Hook', count: 500, isRecent: true, isMore: true, lastStatusCode: null }
  t.deepEqual(ids([parkedFinding(parked)]), ['webhook.parked'])
  t.is(
    summaryOf([parkedFinding(parked), parkedFinding({ ...parked, count: 1, isRecent: true, isMore: false, lastStatusCode: 500 })]),
    'At least 500 webhook deliveries to Hook were given up within 7 days: the receiver gave no answer.\n' +
      'One webhook delivery to Hook was given up within 7 days: the receiver returned status 500.',
  )
  t.deepEqual(keyFindings(undefined, true), [])
  const fault = { path: '/d/master.key', folder: '/d' }
  t.deepEqual(ids(keyFindings({ ...fault, kind: 'master_key.missing' }, true)), ['master_key.missing'])
  t.deepEqual(ids(keyFindings({ ...fault, kind: 'master_key.wrong', isUnreadable: true }, false)), ['master_key.wrong'])
  t.deepEqual(ids(lagFindings({ server: 'time.example', ms: 5000 })), ['clock.off'])
  t.deepEqual(lagFindings({ server: 'time.example', ms: -4999 }), [])
})

test('a website domain has a finding while its latest check fails', (t) => {
  const domain = { name: 'www.example.ch', token: 'secret', verifiedAt: 1, checkedAt: 1, createdAt: 1 }
  const found = (problem: string | null, verifiedAt: number | null = 1, problemCode?: 'txt' | 'no_answer') =>
    siteDomainFindings({
      domains: [{ ...domain, problem, verifiedAt, ...(problemCode && { problemCode }) }],
      slug: 'gipfel',
      projectId: 'prj_1',
    })
  t.deepEqual(found(null), [])
  t.deepEqual(found('It does not lead here.', null), [])
  t.like(found('It does not lead here.'), [{ kind: 'site.domain', subject: 'www.example.ch', projectId: 'prj_1' }])
  const missing = found('Any sentence with the token secret.', 1, 'txt')
  t.deepEqual(ids(missing), ['site.domain'])
  t.regex(summaryOf(missing), /website gipfel have changed: the TXT record is missing or has another value\.$/)
  t.deepEqual(found('DNS gave no answer.', 1, 'no_answer'), [])
})

test('findings are sorted by severity, the worst first', (t) => {
  const all = findingKinds.map((id) => ({ id, severity: factsOf(id).severity, subject: '', params: {}, title: '', summary: '', fix: '' }))
  const order = inOrder(all).map(({ severity }) => severities.indexOf(severity))
  t.deepEqual(
    order,
    order.toSorted((a, b) => a - b),
  )
  t.is(order[0], 0)
})
