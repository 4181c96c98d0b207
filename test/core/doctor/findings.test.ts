/** Findings from facts; the documentation explains every one of them. */
import { readFileSync } from 'node:fs'
import test from '#test'
import { blocklistFindings, reverseFindings } from '#core/doctor/address-findings.ts'
import { databaseFindings, objectFindings } from '#core/doctor/database-findings.ts'
import { breakerFindings, sourceFindings } from '#core/doctor/delivery-findings.ts'
import { domainFindings } from '#core/doctor/domain-findings.ts'
import { siteDomainFindings } from '#core/doctor/site-domain-check.ts'
import { findingIds, inOrder, severities, severityOf } from '#core/doctor/finding.ts'
import {
  alertFindings,
  backupFindings,
  certificateFindings,
  clockFindings,
  damageFindings,
  diskFindings,
  fileFindings,
  heldFindings,
  memoryFindings,
  logFindings,
  queueFindings,
} from '#core/doctor/process-findings.ts'
import { column } from '../../support/column.ts'

const minute = 60_000
const day = 24 * 60 * minute
const now = Date.UTC(2030, 0, 15)
const ids = (findings: readonly { readonly id: string }[]): unknown[] => column(findings, 'id')

test('doctor: its documentation lists exactly the findings, with severity', (t) => {
  const chapter = readFileSync(new URL('../../../admin-api/docs/doctor.md', import.meta.url), 'utf8')
  const rows = [...chapter.matchAll(/^\| `([a-z_]+\.[a-z_]+)` +\| (\w+) +\| (.+?) +\| (.+?) +\|$/gm)]
  const told = rows.map(([, id = '', severity = '']) => `${id} ${severity}`)
  t.deepEqual(
    told.toSorted(),
    Object.entries(severityOf)
      .map(([id, severity]) => `${id} ${severity}`)
      .toSorted(),
  )
})

test('findings: disk space, open files, backups and queue length, by their limits', (t) => {
  const disk = { dataDir: '/d', lowBytes: 100 }
  t.deepEqual(ids(diskFindings({ ...disk, freeBytes: 99 })), ['disk.low'])
  t.deepEqual(ids(diskFindings({ ...disk, freeBytes: 299 })), ['disk.filling'])
  t.deepEqual(diskFindings({ ...disk, freeBytes: 300 }), [])
  const lost = { lines: 2, at: now - 60 * minute, problem: undefined }
  t.deepEqual(ids(logFindings(lost, now)), ['log.lines_dropped'])
  t.deepEqual(logFindings(lost, now + 1), [])
  t.deepEqual(logFindings({ lines: 0, at: undefined, problem: undefined }, now), [])
  t.like(logFindings({ ...lost, lines: 1, problem: 'ENOSPC: no space left on device, write' }, now), [
    {
      summary:
        'One log line was dropped since the start, the latest at 2030-01-14T23:00:00.000Z. The latest failed: ENOSPC: no space left on device, write.',
    },
  ])
  t.deepEqual(ids(fileFindings({ open: 900, limit: 1024, needed: 5000 })), ['files.nearly_used'])
  t.deepEqual(ids(fileFindings({ open: 9, limit: 1024, needed: 5000 })), ['files.limit_low'])
  t.deepEqual(fileFindings({ open: 9, limit: 5000, needed: 5000 }), [])
  t.deepEqual(ids(memoryFindings(383 * 1_048_576)), ['memory.limit_low'])
  t.deepEqual(memoryFindings(384 * 1_048_576), [])
  t.deepEqual(fileFindings({ open: undefined, limit: undefined, needed: 5000 }), [], 'a system without this information')
  t.deepEqual(ids(backupFindings(undefined, now)), ['backup.none'])
  t.deepEqual(ids(backupFindings(now - 8 * day, now)), ['backup.old'])
  t.deepEqual(backupFindings(now - 7 * day, now), [])
  t.deepEqual(damageFindings([]), [])
  t.like(damageFindings([{ sentence: 'One is damaged.' }, { sentence: 'Two is.' }]), [
    { id: 'store.damaged', summary: 'The store is damaged: One is damaged. One more problem exists.' },
  ])
  t.deepEqual(ids(queueFindings(60 * minute)), ['queue.late'])
  t.deepEqual(queueFindings(59 * minute), [])
  t.deepEqual(heldFindings({ count: 0, since: undefined }), [])
  t.like(heldFindings({ count: 2, since: 0 }), [
    { id: 'queue.held', summary: '2 messages are held in the queue, since 1970-01-01T00:00:00.000Z.' },
  ])
  t.deepEqual(ids(alertFindings('ops@example.org', false)), ['alerts.no_mail'])
  t.deepEqual(alertFindings(null, false), [])
})

test('a database has findings on settings, age, connections, standbys and clock', (t) => {
  const server = { shown: 'postgresql://host/db', version: '16.4', unsafe: [], standbys: [], forgottenCopy: null, clockLagMs: 100 }
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
  t.like(databaseFindings({ ...facts, standbys }), { 0: { id: 'database.standby_late', subject: 'far' }, length: 1 })
  t.like(databaseFindings({ ...facts, forgottenCopy: '12 MB' }), { 0: { id: 'database.forgotten_copy', subject: '' }, length: 1 })
  t.like(databaseFindings({ ...facts, clockLagMs: -7000 }), {
    0: { id: 'clock.off', summary: 'The clock of the machine is 7 seconds ahead, compared with the database.' },
  })
  t.like(databaseFindings({ problem: 'It is away.' }), { 0: { id: 'database.away', summary: 'It is away.' } })
  t.deepEqual(objectFindings(undefined), [])
  t.deepEqual(ids(objectFindings('It is full.')), ['objects.away'])
})

test('a certificate has findings on remaining days, name and issuer', (t) => {
  const judged = (certificate: Parameters<typeof certificateFindings>[0]['certificate'], isPublic = true, orderProblem?: string) =>
    ids(certificateFindings({ host: 'mail.example.org', isPublic, isOrdered: orderProblem !== undefined, now, certificate, orderProblem }))
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
  t.deepEqual(judged({ ...good, expiresAt: now + 13 * day }, true, 'No.'), ['certificate.renewal_failed', 'certificate.expiring'])
  t.deepEqual(judged(undefined, true, 'No.'), ['certificate.renewal_failed'])
  t.deepEqual(judged(undefined), ['certificate.self_signed'], 'the first start creates one')
  t.deepEqual(judged(undefined, false), [])
})

test('a clock jump is reported for a day', (t) => {
  t.deepEqual(clockFindings({ now, jump: undefined }), [])
  t.deepEqual(clockFindings({ now, jump: { ms: 59_000, at: now } }), [])
  t.regex(clockFindings({ now, jump: { ms: -90_000, at: now } })[0]?.summary ?? '', /jumped back by 90 seconds/)
  t.deepEqual(clockFindings({ now, jump: { ms: 90_000, at: now - day - 1 } }), [])
})

test('blocklist codes: listed, refused to this name server, and wildcard answers', (t) => {
  const [address, zone] = ['192.0.2.7', 'zen.spamhaus.org']
  const [listed] = blocklistFindings([{ address, zone, codes: ['127.0.0.4', '127.0.0.10'] }])
  t.is(listed?.id, 'address.listed')
  t.regex(listed?.summary ?? '', /zen\.spamhaus\.org \(127\.0\.0\.4, 127\.0\.0\.10, XBL: an infected machine or open proxy\)/)
  t.regex(listed?.fix ?? '', /check\.spamhaus\.org/)
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
    { ...record, purpose: 'bounce_mx', type: 'MX', name: 'bounces.example.org' },
  ] as const
  const checks = (verdict: 'ok' | 'missing' | 'mismatch' | 'error') =>
    expected.map(({ purpose, name }) => ({ purpose, name, verdict, found: [], hint: 'Publish it.' }))
  const found = (verdict: Parameters<typeof checks>[0], of: Parameters<typeof domainFindings>[0]['domain'] = domain) =>
    domainFindings({ domain: of, organizationName: 'Alpenblick', expected, checks: checks(verdict) })
  t.deepEqual(found('ok'), [])
  const other = { ...domain, keys: [...domain.keys, { ...key, selector: 'b', state: 'pending' as const }] }
  t.deepEqual(
    found('missing', other).map(({ id, subject }) => [id, subject]),
    [
      ['domain.dkim', 'a._domainkey.example.ch'],
      ['domain.spf', 'example.ch'],
      ['domain.bounce_mx', 'bounces.example.org'],
    ],
    'an unused key is no finding',
  )
  t.regex(
    found('mismatch').find(({ id }) => id === 'domain.spf')?.summary ?? '',
    /^example\.ch \(Alpenblick\): the SPF record at example\.ch is wrong\.$/,
  )
  t.deepEqual(ids(found('missing', { ...domain, keys: [] })), ['domain.pending'])
  t.deepEqual(ids(found('error')), ['domain.lookup_failed'])
})

test('findings: circuit breakers open for long, and sources silent for days', (t) => {
  const resting = { id: 'dst_1', name: 'P', organizationName: 'O', reason: 'No route' }
  t.deepEqual(ids(breakerFindings([{ ...resting, since: now - 5 * minute }], now)), ['destination.resting'])
  t.deepEqual(breakerFindings([{ ...resting, since: now - 4 * minute }], now), [])
  const source = { id: 'src_1', label: 'mx', provider: 'postfix', imap: null, createdAt: now - 9 * day } as const
  const imap = { host: 'h', port: 993, username: 'u', sealedPassword: 's' as never, mailbox: 'INBOX', pollIntervalSeconds: 60 }
  const judged = (facts: Partial<Parameters<typeof sourceFindings>[0][number]>) =>
    ids(sourceFindings([{ source, organizationName: 'O', seen: undefined, poll: undefined, ...facts }], now))
  t.deepEqual(judged({}), ['source.never_seen'])
  t.deepEqual(judged({ source: { ...source, createdAt: now - day } }), [])
  t.deepEqual(judged({ seen: { at: now - 3 * day, agent: null } }), ['source.silent'])
  t.deepEqual(judged({ seen: { at: now - 2 * day, agent: null } }), [])
  const failing = { lastPolledAt: now - 61 * minute, lastError: 'The login failed', lastErrorAt: now, checkpoint: null }
  t.deepEqual(judged({ source: { ...source, imap }, poll: failing }), ['source.poll_failing'])
  t.deepEqual(judged({ source: { ...source, imap }, poll: { ...failing, lastPolledAt: now - minute } }), [])
  t.deepEqual(judged({ source: { ...source, imap }, poll: { ...failing, lastError: null } }), [])
})

test('a website domain has a finding while its latest check fails', (t) => {
  const facts = { domain: 'www.example.ch', slug: 'gipfel', organizationName: 'O' }
  t.deepEqual(siteDomainFindings([{ ...facts, problem: null }]), [])
  const [found] = siteDomainFindings([{ ...facts, problem: 'It does not lead here.' }])
  t.like(found, { id: 'site.domain', subject: 'www.example.ch' })
  t.regex(found?.summary ?? '', /website gipfel \(O\) have changed: It does not lead here\.$/)
})

test('findings are sorted by severity, the worst first', (t) => {
  const all = findingIds.map((id) => ({ id, severity: severityOf[id], subject: '', summary: '', fix: '' }))
  const order = inOrder(all).map(({ severity }) => severities.indexOf(severity))
  t.deepEqual(
    order,
    order.toSorted((a, b) => a - b),
  )
  t.is(order[0], 0)
})
