/** Name servers that do not respond: a new destination and the doctor report this and no other cause. */
import test from '#test'
import { ResolveError, type RecordResolver, type Resolver } from '#core/outbound/resolver.ts'
import { startDaemon } from '../../support/daemon/start-daemon.ts'
import { FakeClock } from '../../support/fake-clock.ts'

const operatorKey = `svcop_${'o'.repeat(43)}`
const late = (name: string): Promise<never> => Promise.reject(new ResolveError('timeout', `The DNS lookup of ${name} timed out.`))
const silent: Resolver & RecordResolver = { resolve4: late, resolve6: late, resolveTxt: late, resolveMx: late }
const webhoster = {
  name: 'Webhoster',
  provider: 'smtp',
  credentials: { host: 'mail.example.ch', port: 587, security: 'starttls', username: 'u', password: 'p' },
}

test('silent name servers: a new destination reports no failed login', async (t) => {
  const clock = new FakeClock(Date.UTC(2030, 0, 1))
  const { rest } = await startDaemon(t, { replacements: { clock, resolver: silent } })
  const { warnings } = await rest.must('POST', '/v1/destinations', webhoster)
  t.deepEqual(warnings, [
    {
      code: 'dns_unreachable',
      step: 'resolve',
      message:
        'The DNS lookup timed out. Check the network and the name servers of this service (POSTERN_DNS_SERVERS); the settings of the destination ' +
        'may be right. The destination is stored. Its mail is queued or fails over until a test succeeds.',
    },
  ])
})

test('silent name servers: the doctor finds them and blames no destination', async (t) => {
  const clock = new FakeClock(Date.UTC(2030, 0, 1))
  const timeout = Object.assign(new Error('queryA ETIMEOUT'), { code: 'ETIMEOUT' })
  const daemon = await startDaemon(t, {
    env: { POSTERN_OPERATOR_KEY: operatorKey, POSTERN_SMTP_HOST: 'localhost', POSTERN_STORE_LOW_DISK_BYTES: '1048576' },
    replacements: { clock, resolver: silent, lookUp: () => Promise.reject(timeout) },
  })
  const { id } = await daemon.rest.must('POST', '/v1/destinations', webhoster)
  await daemon.rest.must('POST', `/v1/destinations/${String(id)}/promote-to-live`)
  const { findings } = (await daemon.client(operatorKey).must('POST', '/operator/v1/doctor')) as {
    findings: readonly { id: string; summary: string; fix: string }[]
  }
  const found = (name: string) => findings.find((one) => one.id === name)
  t.regex(found('dns.unreachable')?.summary ?? '', /^No name server answers /)
  t.regex(found('destination.probe_failed')?.summary ?? '', /cannot be used: its host name could not be looked up\. /)
  t.regex(
    found('destination.probe_failed')?.fix ?? '',
    /^Check the network and the name servers of this service .* Then test the destination\.$/,
  )
})
