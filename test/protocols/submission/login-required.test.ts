// The package protects MAIL, RCPT and DATA with AUTH if its options are correct. These tests remove that protection.
import test from '#test'
import type { SMTPServerSession } from 'smtp-server'
import { LoginGate } from '../../../protocols/submission/auth.ts'
import { SubmissionContext } from '../../../protocols/submission/submission-context.ts'
import { SubmissionListener } from '../../../protocols/submission/submission-listener.ts'
import { SubmissionConnection } from '../../../protocols/submission/submission-connection.ts'
import { DoorDouble, password, username } from './door-double.ts'
import { certificate, EventLog, limits, startFixture } from './submission-fixture.ts'
import { FakeClock, startOfTime } from '../../support/fake-clock.ts'
import { column } from '../../support/column.ts'

async function listener(cleartextAuth: 'never' | 'loopback' = 'never'): Promise<SubmissionListener> {
  const common = { listen: [], tlsListen: [], hostname: 'mail.test', tls: await certificate(), cleartextAuth, limits }
  const options = { ...common, door: new DoorDouble(), events: new EventLog(), clock: new FakeClock(startOfTime, 3000) }
  const context = new SubmissionContext(options)
  return new SubmissionListener(context, new LoginGate(context), options, { host: '127.0.0.1', port: 0 }, false)
}

const sessionWith = (facts: object): SMTPServerSession =>
  ({
    id: '1',
    remoteAddress: '127.0.0.1',
    secure: true,
    envelope: { mailFrom: false, rcptTo: [] },
    ...facts,
  }) as unknown as SMTPServerSession

test('SubmissionListener: onMailFrom() and onRcptTo() require the login', async (t) => {
  const server = await listener()
  const path = { address: 'a@site.test', args: false as const }
  for (const user of [undefined, false]) {
    server.onMailFrom(path, sessionWith({ user }), (error) => t.is(error?.message, '5.7.0 Authentication required.'))
    server.onRcptTo(path, sessionWith({ user }), (error) => t.is(error?.message, '5.7.0 Authentication required.'))
  }
})

test('SubmissionListener: onAuth() refuses a password without TLS', async (t) => {
  const logIn = async (server: SubmissionListener, facts: object): Promise<string> => {
    const answer = Promise.withResolvers<string>()
    const auth = { method: 'PLAIN' as const, username, password, validatePassword: () => false }
    server.onAuth(auth, sessionWith(facts), (error, response) => answer.resolve(error?.message ?? String(response?.user?.username)))
    return answer.promise
  }
  const never = await listener('never')
  const loopback = await listener('loopback')
  const refused = '5.7.0 Must issue a STARTTLS command first'
  t.is(await logIn(never, { secure: false }), refused)
  t.is(await logIn(never, { secure: true }), username)
  for (const remoteAddress of ['127.0.0.1', '127.8.9.10', '::1']) t.is(await logIn(loopback, { secure: false, remoteAddress }), username)
  for (const remoteAddress of ['192.0.2.1', '::2', '128.0.0.1']) t.is(await logIn(loopback, { secure: false, remoteAddress }), refused)
})

test('SubmissionConnection: refuses a message without login at DATA and final dot', async (t) => {
  const fixture = await startFixture(t)
  const sessions: SMTPServerSession[] = []
  const init = SubmissionConnection.prototype.init
  SubmissionConnection.prototype.init = function (this: SubmissionConnection) {
    sessions.push(this.session)
    init.call(this)
  }
  t.teardown(() => (SubmissionConnection.prototype.init = init))
  for (const at of ['DATA', 'dot']) {
    const client = await fixture.session()
    await client.command('MAIL FROM:<a@site.test>')
    await client.command('RCPT TO:<b@example.test>')
    if (at === 'dot') t.regex(await client.command('DATA'), /^354/)
    const session = sessions.at(-1)
    if (session) session.user = false
    t.regex(await client.command(at === 'dot' ? '.' : 'DATA'), /^530 5\.7\.0 Authentication required/)
  }
  t.deepEqual(fixture.door.taken, [])
  t.deepEqual(column(fixture.door.drafts, 'discarded'), [true])
})

test('SubmissionListener: no reverse look-up, no PROXY protocol, at least TLS 1.2', async (t) => {
  const { options } = await listener()
  t.true(options.disableReverseLookup)
  t.is(options.minVersion, 'TLSv1.2')
  t.deepEqual([options.useProxy, options.useXClient, options.useXForward, options.authOptional], [undefined, undefined, undefined, false])
})
