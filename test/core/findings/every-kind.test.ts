/** Every kind of finding has a test that makes its condition true, and one that makes it false. */
import { readFileSync } from 'node:fs'
import test from '#test'
import { findingKinds, type FindingKind } from '#core/findings/kinds.ts'

/** File and title of a test. Of two, the first one opens the finding and the second one ends it. */
type Named = readonly [file: string, title: string]
type Tests = Readonly<Record<FindingKind, readonly [Named, ...Named[]]>>

const facts = 'core/doctor/findings.test.ts'
const machine = 'daemon/commands/doctor.test.ts'
const dependencies = 'daemon/doctor/dependencies.test.ts'
const notifier = 'core/alerts/notifier.test.ts'
const [mail, queue, limits, receivers] = ['mail', 'queue', 'limits', 'receivers'].map((name) => `core/watch/${name}.test.ts`) as [
  string,
  string,
  string,
  string,
]

const space: Named = [facts, 'findings: disk space, open files, backups and damage, by their limits']
const database: Named = [facts, 'a database has findings on settings, age, connections, standbys and clock']
const certificate: Named = [facts, 'a certificate has findings on remaining days, name and issuer']
const blocklist: Named = [facts, 'blocklist codes: listed, refused to this name server, and wildcard answers']
const reverse: Named = [facts, 'a reverse name must exist and resolve back']
const domain: Named = [facts, "a domain has findings on its keys, its records, and the service's needs"]
const keys: Named = [facts, 'findings: failed probes by the class of their error, parked deliveries, keys and clocks']
const sources: Named = [facts, 'findings: open circuit breakers, and sources silent for days']
const budgets: Named = [limits, 'quota: budget of a project, captures a month and stored traces, until a higher limit']

const tests: Tests = {
  'machine.node': [space],
  'data.folder': [[machine, 'examineMachine(): finds a read-only folder and too little disk space']],
  'master_key.missing': [keys],
  'master_key.wrong': [keys],
  'master_key.exposed': [[machine, 'examineMachine() finds a master key that others can read']],
  'port.unavailable': [[machine, 'examineMachine() finds an address that is not of this machine']],
  'daemon.not_running': [
    ['daemon/commands/foreign-process.test.ts', 'commands send no secret to a foreign process on the port of a killed daemon'],
    ['flows/alerts/same-findings.test.ts', 'the same kinds for both audiences are open in every place'],
  ],
  'disk.low': [space],
  'disk.filling': [space],
  'log.lines_dropped': [space],
  'files.nearly_used': [space],
  'files.limit_low': [space],
  'memory.limit_low': [space],
  'clock.wrong': [[machine, 'examineMachine(): finds a clock that is behind the data']],
  'clock.jumped': [[facts, 'a clock jump is reported for a day']],
  'clock.off': [keys],
  'store.damaged': [space],
  'database.away': [database],
  'database.unsafe': [database],
  'database.old': [database],
  'database.connections': [database],
  'database.standby_late': [database],
  'database.forgotten_copy': [database],
  'objects.away': [database],
  'certificate.unusable': [certificate],
  'certificate.expired': [certificate],
  'certificate.expiring': [certificate],
  'certificate.renewal_failed': [certificate],
  'certificate.name': [certificate],
  'certificate.self_signed': [certificate],
  'backup.none': [space],
  'backup.old': [space],
  'dns.unreachable': [[machine, 'examineMachine() finds a name server that does not answer']],
  'address.listed': [blocklist],
  'address.no_reverse_name': [reverse],
  'address.reverse_mismatch': [reverse],
  'blocklist.refused': [blocklist],
  'scanner.unreachable': [
    ['admin-api/rest/forms/scanning.test.ts', 'without a working scanner, submissions are stored and their files stay pending'],
  ],
  'captcha.unreachable': [
    [dependencies, 'captcha.unreachable: opens after three failed verifications, ends with an answer or after an hour'],
  ],
  'spans.not_exported': [
    [dependencies, 'spans.not_exported: opens five minutes after the collector refuses spans, ends when it accepts them'],
  ],
  'alerts.no_mail': [
    [
      'core/doctor/alert-findings.test.ts',
      'alerts.no_mail: open while mail to the operator is set and no destination of system mail is live',
    ],
  ],
  'alerts.undeliverable': [[notifier, 'while a channel fails, an escalation gets its content at once; a good test ends it']],
  'alerts.owner_unreachable': [[notifier, 'without any channel that works, the operator gets a finding about the organization']],
  'alerts.one_path': [
    ['core/doctor/alert-findings.test.ts', 'alerts.one_path: open while every host of system mail has a destination with an error'],
  ],
  'route.missing': [[mail, 'route.missing: captured mail without a rule, while a destination is live']],
  'destination.login_refused': [
    ['core/watch/logins.test.ts', 'destination.login_refused: one refused probe of a live destination, and the fallback'],
  ],
  'destination.probe_failed': [
    ['core/doctor/doctor.test.ts', 'destinations: an older probe ends no finding, and a finding without a probe is probed'],
  ],
  'destination.resting': [['core/watch/breakers.test.ts', 'destination.resting: as soon as the breaker opens, until an attempt closes it']],
  'destination.failing': [[mail, 'destination.failing: ends when the latest attempts of a repaired destination succeed']],
  'mail.all_failing': [[mail, 'mail.all_failing: stays open without attempts, and ends after a day']],
  'mail.bounced': [[mail, 'mail.bounced: warns from 2 %, and is an error from 5 %']],
  'mail.failed': [[mail, 'mail.failed: failures without bounces']],
  'mail.deferred': [[mail, 'mail.deferred: a quarter of recipients']],
  'mail.refused': [[mail, 'mail.refused: a quarter of requests, with the most frequent code']],
  'mail.complained': [[mail, 'mail.complained: warns from 0.1 % in a day, and is an error from 0.3 %']],
  'queue.late': [[queue, 'queue.late: the oldest message waits for an hour, unless its destination is paused or failing']],
  'queue.held': [[queue, 'queue.held: mail on hold for a day, and held mail is never late']],
  'approval.waiting': [[queue, 'approval.waiting: messages of agents, until a person decides']],
  'webhook.failing': [[receivers, 'webhook.failing: a receiver that answers 500 is reported within 16 minutes, until it accepts an event']],
  'webhook.parked': [
    ['core/doctor/doctor.test.ts', 'webhook.parked: a delivery that was given up, an error for a day and a warning for seven'],
  ],
  'inbound.failing': [[receivers, 'inbound.failing: the webhook of a route']],
  'source.silent': [sources],
  'source.never_seen': [sources],
  'source.poll_failing': [sources],
  'domain.dkim': [domain],
  'domain.spf': [domain],
  'domain.dmarc': [domain],
  'domain.bounce_mx': [domain],
  'domain.bounce_spf': [domain],
  'domain.pending': [domain],
  'domain.lookup_failed': [domain],
  'domain.unknown': [
    ['admin-api/rest/insights/unknown-domain.test.ts', 'domain.unknown: ten messages by REST and SMTP, until the domain is added'],
  ],
  'site.domain': [[facts, 'a website domain has a finding while its latest check fails']],
  'quota.nearly_used': [budgets],
  'quota.used': [budgets],
  'payment.overdue': [[limits, 'payment.overdue: until the payment is confirmed']],
  'form.notification_failing': [
    ['flows/alerts/failing-form.test.ts', 'form.notification_failing: a form whose webhook answers 500, until it accepts a submission'],
  ],
  'login.attacked': [[limits, 'login.attacked: a hundred failed sign-ins within an hour']],
  'credential.expiring': [
    ['core/doctor/doctor.test.ts', 'credential.expiring: keys and logins in use that end within seven days, without mail or another event'],
  ],
}

/** Assertions that nothing is found, or that a check is good. */
const absence = /\[\]|undefined|'over'|t\.false\(|\.ok\)/

/** Returns the text of a test after its title; undefined without one. */
function bodyOf([file, title]: Named): string | undefined {
  const text = readFileSync(new URL(`../../${file}`, import.meta.url), 'utf8')
  const [start] = [`test('${title}'`, `test("${title}"`].map((one) => text.indexOf(one)).filter((at) => at >= 0)
  if (start === undefined) return undefined
  const rest = text.slice(start + title.length)
  const end = rest.search(/\n *test(?:With\([^)]*\))?\(/)
  return end < 0 ? rest : rest.slice(0, end)
}

test('every kind of finding is made true and false by a test that names it', (t) => {
  for (const kind of findingKinds) {
    const named = tests[kind]
    for (const [index, one] of named.entries()) {
      const body = bodyOf(one)
      t.true(body?.includes(kind), `${kind}: ${one.join(' > ')}`)
      if (index === named.length - 1) t.regex(body ?? '', absence, `${kind}: ${one.join(' > ')}`)
    }
  }
})
