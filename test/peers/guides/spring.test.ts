/** The guide "Send Spring mail through Postern" with Spring's JavaMailSenderImpl and Jakarta Mail, configured like Spring Boot. */
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { testWith } from '../../support/peers/peers.ts'
import { blockOf } from './guide-walk.ts'
import { saidIn, Site } from './site.ts'

const run = promisify(execFile)
const jars = [
  'bsh',
  'javax.mail',
  'javax.activation',
  'commons-logging',
  ...['core', 'beans', 'context', 'context.support'].map((name) => `spring3-${name}`),
]
const classes = jars.map((name) => `/usr/share/java/${name}.jar`).join(':')

testWith(
  'beanshell',
  'java',
  'javamail',
  'spring',
)("Spring's JavaMailSender sends by the guide", async (t) => {
  await using site = await Site.start('spring')
  await using beside = await Site.start('spring-beside', { beside: true })
  const { certificates, login } = site
  const store = `${site.folder}/trusted.p12`
  const kept = ['-keystore', store, '-storepass', 'changeit', '-storetype', 'PKCS12']
  await run('keytool', ['-importcert', '-noprompt', '-alias', 'test', '-file', certificates.ca, ...kept])
  // host names that do not resolve in this network
  const hosts = await site.file('hosts', '127.0.0.1 localhost\n127.0.0.1 mail.foreign.test\n')
  const trusted = [`-Djavax.net.ssl.trustStore=${store}`, '-Djavax.net.ssl.trustStorePassword=changeit']
  const java = ['java', '-XX:TieredStopAtLevel=1', ...trusted, `-Djdk.net.hosts.file=${hosts}`, '-cp', classes]
  const send = async (lines: string, SMTP_PASSWORD: string, code: readonly string[] = [], at = site) => {
    const file = await at.file('application.properties', lines)
    return at.send([...java, 'bsh.Interpreter'], 'spring.bsh', [file, ...code], { SMTP_PASSWORD })
  }
  const properties = (port: string, host = 'localhost', username = login.username) =>
    blockOf('spring', 'application.properties', { 'mail.example.com': host, '=587': `=${port}`, 'smtp_…': username })
  const starttls = await properties(site.starttls)
  const line = await saidIn('spring', /For port 465 write `(\S+)` in place of the two lines/)
  const twoLines = /(?:^.*\.starttls\..*\n){2}/m
  const implicit = (await properties(site.implicitTls)).replace(twoLines, `${line}\n`)
  await site.assertArrived(t, await send(starttls, login.password), 'Shop <shop@example.com>')
  await site.assertArrived(t, await send(implicit, login.password), 'Shop <shop@example.com>')
  await site.assertHello(t, await send(starttls, login.password, [await blockOf('spring', 'Java')]), 'shop@example.com')
  await saidIn('spring', /(for port 2525 leave the two out)/)
  const plain = (await properties(beside.starttls, 'localhost', beside.login.username)).replace(twoLines, '')
  await beside.assertArrived(t, await send(plain, beside.login.password, [], beside), 'Shop <shop@example.com>')
  await site.assertRefused(t, await send(starttls, 'wrong'), /535 5\.7\.8/)
  await site.assertRefused(
    t,
    await send(await properties(site.starttls, 'mail.foreign.test'), login.password),
    /identity of server: mail\.foreign\.test/,
  )
  const foreign = await blockOf('spring', 'Java', { 'shop@example.com': 'shop@foreign.test' })
  await site.assertRefused(t, await send(starttls, login.password, [foreign]), /553 5\.7\.1/)
})
