/** Ingest sources and their mailboxes over REST. */
import test from '#test'
import { ingestSources, openHmacSecret, openImapPassword } from '#core/ingest-sources/ingest-source.ts'
import { writePoll } from '#core/ingest-sources/source-status.ts'
import { Change } from '#store/change.ts'
import { within } from '#store/tuple.ts'
import { assertSound } from '../../../support/problems.ts'
import { addSource, postSigned, returnPathOf, sample, secrets, sentMessage, traceOf } from '../fixture/ingest-posts.ts'
import { errorOf, startFixture } from '../fixture/rest-fixture.ts'

const path = '/v1/ingest-sources'
const imap = { host: 'mail.example.ch', username: 'bounces@example.ch', password: 'letmein-4711' }

test('createIngestSource shows the secret once; it is sealed in the store', async (t) => {
  const { rest, database, organizationId } = await startFixture(t)
  const made = await rest.must('POST', path, { provider: 'stalwart', label: 'mx1' })
  const secret = String(made['hmac_secret'])
  t.regex(secret, /^[a-z2-7]{40}$/)
  t.like(made, { provider: 'stalwart', label: 'mx1', mode: 'push', imap: null, last_seen_at: null, agent: null })
  t.is(made['webhook_url'], `https://post.example.ch/v1/ingest/stalwart?source_id=${String(made['id'])}`)
  const { hmac_secret: _, ...rest_ } = made
  const nothing = { since: null, last_success_at: null, failures_in_a_row: null, last_reply: null, findings: [] }
  const health = { state: 'unknown', ...nothing }
  t.deepEqual(((await rest.must('GET', path))['data'] as object[])[0], { ...rest_, health })
  const stored = await database.get(ingestSources, { organizationId }, String(made['id']))
  t.false(JSON.stringify(stored?.record).includes(secret))
  t.is(stored && openHmacSecret(secrets, stored.record), secret)
})

test('a mailbox is for Postfix and Dovecot, has defaults, and never shows its password', async (t) => {
  const { rest, database, organizationId, clock } = await startFixture(t)
  for (const provider of ['postfix', 'dovecot']) {
    const made = await rest.must('POST', path, { provider, imap_config: imap })
    const shown = { host: 'mail.example.ch', port: 993, username: 'bounces@example.ch', mailbox: 'INBOX', poll_interval_seconds: 60 }
    t.like(made, { mode: 'imap', imap: { ...shown, last_polled_at: null, last_error: null } })
    const id = String(made['id'])
    const poll = { lastPolledAt: clock.now(), lastError: 'The login was refused.', lastErrorAt: clock.now(), checkpoint: null }
    await database.commit(writePoll(new Change(), organizationId, id, poll))
    const now = new Date(clock.now()).toISOString()
    const seen = await rest.call('GET', `${path}/${id}`)
    t.like(seen.body, { imap: { last_polled_at: now, last_error: 'The login was refused.', last_error_at: now } })
    t.false(seen.bytes.includes(imap.password))
    const stored = await database.get(ingestSources, { organizationId }, id)
    t.is(stored && openImapPassword(secrets, stored.record), imap.password)
    t.false(JSON.stringify(stored?.record).includes(imap.password))
  }
  for (const provider of ['stalwart', 'arf', 'mailenable']) {
    const answer = await rest.call('POST', path, { provider, imap_config: imap })
    t.is(answer.status, 400, provider)
    t.regex(errorOf(answer).message, /postfix and dovecot/)
  }
})

test('a mailbox host must be public or allowed, on an IMAP port, with a minimum poll interval', async (t) => {
  const { rest } = await startFixture(t)
  const faults = async (changes: object) => {
    const answer = await rest.call('POST', path, { provider: 'postfix', imap_config: { ...imap, ...changes } })
    return answer.status === 201 ? undefined : errorOf(answer).message
  }
  t.is(await faults({ port: 143, poll_interval_seconds: 30, mailbox: 'Bounces' }), undefined)
  t.is(await faults({ host: '127.0.0.1', port: 4711 }), undefined)
  t.is(await faults({ host: 'not-there.example.ch' }), undefined)
  t.regex((await faults({ host: 'inside.example.ch' })) ?? '', /imap_config\.host: resolves to a loopback or private address/)
  t.regex((await faults({ host: '169.254.169.254' })) ?? '', /imap_config\.host/)
  t.regex((await faults({ host: '[::1]' })) ?? '', /imap_config\.host/)
  t.regex((await faults({ port: 25 })) ?? '', /imap_config\.port/)
  t.regex((await faults({ poll_interval_seconds: 29 })) ?? '', /poll_interval_seconds/)
  t.regex((await faults({ password: '' })) ?? '', /password/)
  t.regex((await faults({ host: 'http://x' })) ?? '', /imap_config\.host/)
})

test('project keys read ingest sources of the organization and cannot create any', async (t) => {
  const fixture = await startFixture(t)
  const bound = await fixture.withKey(['api:admin'], await fixture.addProject())
  const made = await fixture.rest.must('POST', path, { provider: 'arf' })
  t.is(((await bound.must('GET', path))['data'] as object[]).length, 1)
  for (const answer of [await bound.call('POST', path, { provider: 'arf' }), await bound.call('DELETE', `${path}/${String(made['id'])}`)]) {
    t.is(answer.status, 403)
    t.is(errorOf(answer).code, 'insufficient_scope')
  }
})

interface Unmatched {
  readonly bounced: number
  readonly latest: readonly { readonly recipient: string | null }[]
}

test('unmatched events of a source are visible to organization keys only', async (t) => {
  const fixture = await startFixture(t)
  const source = await addSource(fixture, 'stalwart')
  const detail = async (client = fixture.rest): Promise<Record<string, unknown>> => client.must('GET', `${path}/${source.id}`)
  t.deepEqual((await detail())['unmatched'], { delivered: 0, deferred: 0, bounced: 0, complained: 0, latest: [] })
  await postSigned(fixture, '/v1/ingest/stalwart', source, sample('stalwart-webhook.json'))
  const { unmatched, domain_complaints: complaints } = await detail()
  t.deepEqual(unmatched, { delivered: 1, deferred: 1, bounced: 0, complained: 0, latest: [] })
  t.like(complaints, [{ domain: 'example.com', complaints: 1 }])
  const given = async (client = fixture.rest): Promise<Unmatched> => (await detail(client))['unmatched'] as Unmatched
  fixture.clock.advance(15 * 60_000)
  await fixture.daemon.settled()
  const { bounced, latest } = await given()
  t.is(bounced, 3, 'the bounces are given up')
  t.is(latest.length, 3)
  t.like(
    latest.find(({ recipient }) => recipient === 'nobody@example.net'),
    { type: 'bounced', status: '5.1.1', message_id: null },
  )
  t.like(await detail(await fixture.withKey(['api:read'], await fixture.addProject())), {
    ...{ unmatched: { delivered: 0, deferred: 0, bounced: 0, complained: 0, latest: [] } },
    ...{ domain_complaints: [], refusals: [], dropped_postoffices: [] },
  })
  await fixture.rest.call('DELETE', `${path}/${source.id}`)
  for await (const { value } of fixture.database.kv.range(within([fixture.organizationId, 'ingest.unmatched'])))
    t.fail(Buffer.from(value).toString())
})

test('a source lists ignored log lines by reason, with the first three of each kind', async (t) => {
  const fixture = await startFixture(t)
  const source = await addSource(fixture, 'postfix')
  const logs = '/v1/ingest/logs?source=postfix'
  const sshd = (n: number): string => `Aug 21 12:15:03 mx1 sshd[${String(n)}]: Accepted publickey for root`
  const connect = 'Aug 21 12:15:03 mx1 postfix/smtpd[9]: connect from relay.example.com[198.51.100.20]'
  const probe =
    'Aug 21 12:15:03 mx1 postfix/discard[9]: 4cYt3r0AAAz9sX: to=<a@example.net>, relay=none, delay=1, dsn=2.0.0, status=sent (x)'
  const long = `Aug 21 12:15:03 mx1 cron[1]: ${'x'.repeat(1000)}`
  const now = (): string => new Date(fixture.clock.now()).toISOString()
  const first = now()
  const { status, body } = await postSigned(fixture, logs, source, [sshd(1), '', connect, long, sshd(2), sshd(3), probe].join('\n'))
  const counted = [
    { reason: 'other_program', lines: 4 },
    { reason: 'empty', lines: 1 },
    { reason: 'no_outcome', lines: 1 },
    { reason: 'handed_on', lines: 1 },
  ]
  t.is(status, 202)
  t.like(body, { accepted: 0, ignored: 7, ignored_lines: counted })
  fixture.clock.advance(86_400_000)
  await postSigned(fixture, logs, source, sshd(4))
  const second = now()
  const ignored = async (client = fixture.rest): Promise<unknown> => (await client.must('GET', `${path}/${source.id}`))['ignored_lines']
  t.deepEqual(await ignored(), [
    { reason: 'handed_on', lines: 1, last_at: first, first: [probe] },
    { reason: 'other_program', lines: 5, last_at: second, first: [sshd(4)] },
    { reason: 'no_outcome', lines: 1, last_at: first, first: [connect] },
    { reason: 'empty', lines: 1, last_at: first, first: [] },
  ])
  t.deepEqual(await ignored(await fixture.withKey(['api:read'], await fixture.addProject())), [])
  fixture.clock.advance(30 * 86_400_000)
  await fixture.daemon.settled()
  t.deepEqual(await ignored(), [])
  await postSigned(fixture, logs, source, long)
  t.deepEqual(await ignored(), [{ reason: 'other_program', lines: 1, last_at: now(), first: [long.slice(0, 300)] }])
  await assertSound(t, fixture)
  await fixture.rest.call('DELETE', `${path}/${source.id}`)
  for await (const { value } of fixture.database.kv.range(within([fixture.organizationId, 'ingest.ignored'])))
    t.fail(Buffer.from(value).toString())
})

test('the Exim log sets the outcome of each recipient of a trace once', async (t) => {
  const fixture = await startFixture(t)
  const trace = await sentMessage(fixture, ['nobody@example.net', 'ada@example.net'])
  const source = await addSource(fixture, 'exim')
  const line = (n: number, rest: string): string => `2026-08-21 12:15:03 1tHx5r-000000001AB-000${String(n)} ${rest}`
  const refusal = 'SMTP error from remote mail server after RCPT TO:<nobody@example.net>: 550 5.1.1 No such user'
  const log = [
    line(1, `<= ${returnPathOf(trace)} H=relay.example.com [198.51.100.20] P=esmtps S=4711`),
    line(1, `** nobody@example.net R=dnslookup T=remote_smtp H=mx.example.net [203.0.113.9]: ${refusal}`),
    line(2, `<= ${returnPathOf(trace, 1)} H=relay.example.com [198.51.100.20] P=esmtps S=4711`),
    line(2, '=> ada@example.net R=dnslookup T=remote_smtp H=mx.example.net [203.0.113.9] C="250 OK"'),
    line(1, 'Completed'),
    line(2, 'Completed'),
  ].join('\n')
  const logs = '/v1/ingest/logs?source=exim'
  t.like(await postSigned(fixture, logs, source, log), { status: 202, body: { accepted: 2, unmatched: 0, ignored: 4, rejected: [] } })
  t.like(await postSigned(fixture, logs, source, log), { status: 202, body: { accepted: 0, duplicates: 2 } })
  const { recipients } = (await traceOf(fixture, trace)) as { recipients: object[] }
  t.like(recipients[0], { status: 'bounced', report: { bounce: 'hard' } })
  t.like(recipients[1], { status: 'delivered' })
  t.like(await fixture.rest.must('GET', `/v1/diagnose/bounce?message_id=${trace.id}`), { source: 'exim', category: 'recipient_unknown' })
  await assertSound(t, fixture)
})

test('rotation replaces the secret immediately and keeps the source', async (t) => {
  const fixture = await startFixture(t)
  const { rest } = fixture
  const source = await addSource(fixture, 'stalwart')
  const before = await rest.must('GET', `${path}/${source.id}`)
  const rotated = await rest.must('POST', `${path}/${source.id}/rotate-secret`)
  const secret = String(rotated['hmac_secret'])
  t.regex(secret, /^[a-z2-7]{40}$/)
  t.not(secret, source.secret)
  t.deepEqual(await rest.must('GET', `${path}/${source.id}`), before)
  t.is((await postSigned(fixture, '/v1/ingest/stalwart', source, { events: [] })).status, 401)
  t.is((await postSigned(fixture, '/v1/ingest/stalwart', { ...source, secret }, { events: [] })).status, 202)
})

test('events of a source count once and are visible to organization keys', async (t) => {
  const fixture = await startFixture(t)
  const source = await addSource(fixture, 'stalwart')
  await addSource(fixture, 'arf')
  for (let n = 0; n < 2; n++) await postSigned(fixture, '/v1/ingest/stalwart', source, sample('stalwart-webhook.json'))
  const bound = await fixture.withKey(['api:read'], await fixture.addProject())
  const { data } = (await fixture.rest.must('GET', '/v1/insights/ingest-sources')) as { data: { source_id: string; totals: object }[] }
  t.deepEqual(
    data.map(({ source_id: id, totals }) => [id, totals]),
    [[source.id, { delivered: 1, deferred: 1, bounced: 3, complained: 1, unreadable: 0 }]],
  )
  t.like(errorOf(await bound.call('GET', '/v1/insights/ingest-sources')), { next_action: 'use_key_of_organization' })
  await assertSound(t, fixture)
})

test('creation and revocation appear in the audit log without secrets', async (t) => {
  const { rest } = await startFixture(t)
  const made = await rest.must('POST', path, { provider: 'postfix', label: 'mx1', imap_config: imap })
  await rest.must('POST', `${path}/${String(made['id'])}/rotate-secret`)
  await rest.call('DELETE', `${path}/${String(made['id'])}`)
  const { data } = (await rest.must('GET', '/v1/audit')) as { data: { act: string; target: string }[] }
  const acts = data.filter(({ target }) => target === made['id']).map(({ act }) => act)
  t.deepEqual(acts, ['ingest_source.revoked', 'ingest_source.rotated', 'ingest_source.created'])
  t.false(JSON.stringify(data).includes(imap.password))
})
