import test from '#test'
import { TlsRule } from '../../../protocols/submission/tls-rule.ts'
import { plainToken } from './door-double.ts'
import { certificate, startFixture } from './submission-fixture.ts'

const here = { host: '127.0.0.1', port: 2525 }
const texts = { cert: '', key: '' }

/** Returns the offers to a client at an address without TLS. */
function offered(cleartextAuth: 'never' | 'loopback' | 'auto', isSelfMade: boolean, at = here, remoteAddress = '127.0.0.1'): string {
  const rule = new TlsRule({ cleartextAuth, tls: { ...texts, isSelfMade } }, at)
  const link = { secure: false, remoteAddress }
  return [rule.mayLogIn(link) ? 'AUTH' : '', rule.announcesStartTls(link) ? 'STARTTLS' : ''].filter((word) => word !== '').join(' ')
}

test('TlsRule: self-made certificate allows local logins without TLS or STARTTLS', (t) => {
  t.is(offered('auto', true), 'AUTH')
  for (const host of ['::1', 'localhost', '127.9.9.9']) t.is(offered('auto', true, { host, port: 2525 }), 'AUTH')
  t.is(offered('auto', true, here, '::1'), 'AUTH')
  t.is(offered('auto', true, here, '192.0.2.1'), 'STARTTLS')
  t.is(offered('auto', false), 'STARTTLS')
  for (const port of [587, 2587]) t.is(offered('auto', true, { host: '127.0.0.1', port }), 'STARTTLS')
  for (const host of ['0.0.0.0', '::', '192.0.2.7']) t.is(offered('auto', true, { host, port: 2525 }), 'STARTTLS')
})

test('TlsRule: applies the settings never and loopback', (t) => {
  for (const isSelfMade of [true, false]) t.is(offered('never', isSelfMade), 'STARTTLS')
  t.is(offered('loopback', false), 'AUTH STARTTLS')
  t.is(offered('loopback', true), 'AUTH')
  t.is(offered('loopback', true, { host: '0.0.0.0', port: 587 }), 'AUTH STARTTLS')
  t.is(offered('loopback', true, here, '192.0.2.1'), 'STARTTLS')
})

test('STARTTLS: works unannounced, and is not announced afterwards', async (t) => {
  const tls = { ...(await certificate()), isSelfMade: true }
  const client = await (await startFixture(t, {}, { cleartextAuth: 'auto', tls })).connect()
  await client.reply()
  const inClear = await client.command('EHLO client.test')
  t.notRegex(inClear, /STARTTLS/)
  t.regex(inClear, /AUTH PLAIN LOGIN/)
  t.regex(await client.startTls(), /^220 /)
  const inside = await client.command('EHLO client.test')
  t.notRegex(inside, /STARTTLS/)
  t.regex(inside, /AUTH PLAIN LOGIN/)
  t.regex(await client.command(`AUTH PLAIN ${plainToken}`), /^235 2\.7\.0 /)
})
