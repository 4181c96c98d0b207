/** Rounds of probes: destinations, interval, concurrency and limits. */
import test, { type ExecutionContext } from '#test'
import type { Probes } from '#core/delivery/probe/probes.ts'
import type { ProbeStep } from '#core/delivery/transport.ts'
import { coreFixture, organizationId, principal, type CoreFixture } from '../core-fixture.ts'
import { report, ScriptedTransport, take } from '../scripted-transport.ts'

const minute = 60_000

/** Probes that end on command of the test. */
class HeldProbes extends ScriptedTransport {
  readonly held: ((steps: readonly ProbeStep[]) => void)[] = []
  begun = 0
  holds = false

  /** Steps that end before the probe waits. */
  ended: readonly ProbeStep[] = []

  override probe(_target?: unknown, _signal?: unknown, seen?: (step: ProbeStep) => void): Promise<readonly ProbeStep[]> {
    this.begun++
    for (const step of this.ended) seen?.(step)
    return this.holds ? new Promise((resolve) => this.held.push(resolve)) : Promise.resolve([])
  }
}

async function setup(t: ExecutionContext): Promise<{ fixture: CoreFixture; transport: HeldProbes; probes: Probes }> {
  const transport = new HeldProbes()
  const fixture = await coreFixture(t, { transport })
  return { fixture, transport, probes: fixture.part('probes') }
}

test('probes: every five minutes while in use, until a day after the last mail', async (t) => {
  const { fixture, transport, probes } = await setup(t)
  await fixture.destination()
  t.is(fixture.clock.pending, 0, 'no timer runs without destinations in use')
  probes.used(organizationId, 'dst_1')
  probes.used(organizationId, 'dst_1')
  fixture.clock.advance(4 * minute)
  await fixture.settled()
  t.is(transport.begun, 0)
  for (let round = 1; round <= 3; round++) {
    fixture.clock.advance(5 * minute)
    await fixture.settled()
    t.is(transport.begun, round, `round ${round}`)
  }
  fixture.clock.advance(24 * 60 * minute)
  await fixture.settled()
  const done = transport.begun
  fixture.clock.advance(60 * minute)
  await fixture.settled()
  t.is(transport.begun, done)
  t.is(fixture.clock.pending, 0)
})

test('probes: three destinations at a time, each once', async (t) => {
  const { fixture, transport, probes } = await setup(t)
  transport.holds = true
  for (let n = 0; n < 8; n++) {
    await fixture.destination({ id: `dst_${n}` })
    probes.used(organizationId, `dst_${n}`)
  }
  fixture.clock.advance(5 * minute)
  await fixture.settled()
  t.is(transport.begun, 3, 'the first three')
  t.is(transport.begun, 3)
  for (let n = 4; n <= 8; n++) {
    transport.held.shift()?.([])
    await fixture.settled()
    t.is(transport.begun, n, `number ${n}`)
    t.is(transport.begun, n)
  }
  for (const end of transport.held) end([])
  await probes.stop()
  t.is(fixture.clock.pending, 0)
})

test('probes: skip sandbox and deleted destinations', async (t) => {
  const { fixture, transport, probes } = await setup(t)
  await fixture.destination({ mode: 'sandbox' })
  probes.used(organizationId, 'dst_1')
  probes.used(organizationId, 'dst_gone')
  fixture.clock.advance(30 * minute)
  await fixture.settled()
  t.is(transport.begun, 0)
  t.is(fixture.clock.pending, 0)
})

test('probes: failures open no breaker; a successful test ends its pause', async (t) => {
  const { fixture, transport, probes } = await setup(t)
  await fixture.destination()
  await fixture.rule({ any: true })
  transport.script = (call) => report(call, 'transient', 'connect_refused')
  for (let n = 1; n <= 5; n++) {
    await fixture.submit()
    await fixture.settled()
    t.is(fixture.attempted.length, n, `attempt ${n}`)
  }
  const { traceId } = await fixture.submit()
  await fixture.settled()
  const entry = await probes.waiting(organizationId, await fixture.trace(traceId))
  t.like(entry, { event: 'waiting', detail: { destination_id: 'dst_1', breaker: 'open' } })
  t.regex(
    entry?.message ?? '',
    /^Delivery to the destination Provider is paused: 5 consecutive attempts failed; .* trial is at 2030-01-15T12:00:30/,
  )

  transport.holds = true
  const failing = probes.test(principal, 'dst_1')
  await fixture.settled()
  t.is(transport.held.length, 1, 'probed')
  transport.held[0]?.([{ step: 'connect', ok: false, detail: '', milliseconds: 1 }])
  t.false((await failing).ok)
  fixture.clock.advance(5000)
  await fixture.settled()
  t.is(fixture.attempted.length, 5)

  transport.holds = false
  transport.script = (call) => take(call)
  t.true((await probes.test(principal, 'dst_1')).ok)
  fixture.clock.advance(5000)
  await fixture.settled()
  t.is(fixture.attempted.length, 6, 'sent')
  t.is((await fixture.trace(traceId)).status, 'sent')
  t.is(await probes.waiting(organizationId, await fixture.trace(traceId)), undefined)
  t.is((await probes.health(principal, 'dst_1')).lastHour.errors, 5)
})

test('firstLook(): waits five seconds for a silent provider, and reports it', async (t) => {
  const { fixture, transport, probes } = await setup(t)
  await fixture.destination()
  const destination = (await fixture.policies.of(organizationId)).destinations.get('dst_1')
  if (!destination) return t.fail()
  transport.holds = true
  const looking = probes.firstLook(organizationId, destination)
  await fixture.settled()
  t.is(transport.held.length, 1, 'probed')
  fixture.clock.advance(5000)
  const [warning, ...others] = await looking
  t.like(warning, { code: 'dns_unreachable', step: 'resolve' })
  t.regex(
    warning?.message ?? '',
    /^The name servers did not answer within 5 seconds\. Check the network and the name servers of this service /,
  )
  t.deepEqual(others, [])
  transport.held[0]?.([])
  transport.holds = false
  t.deepEqual(await probes.firstLook(organizationId, destination), [])
  t.is(fixture.clock.pending, 0, 'no timer remains')
})

test('firstLook(): names the unfinished step with its advice', async (t) => {
  const { fixture, transport, probes } = await setup(t)
  transport.holds = true
  const looked = async (ended: readonly string[], security: 'tls' | 'starttls' | 'none'): Promise<string> => {
    transport.ended = ended.map((step) => ({ step, ok: true, detail: '', milliseconds: 1 }))
    const id = `dst_${ended.join('_')}_${security}`
    await fixture.destination({ id, security })
    const destination = (await fixture.policies.of(organizationId)).destinations.get(id)
    if (!destination) throw new Error('no destination')
    const looking = probes.firstLook(organizationId, destination)
    await fixture.settled()
    fixture.clock.advance(5000)
    const [warning] = await looking
    return `${warning?.code ?? ''} ${warning?.step ?? ''}: ${warning?.message ?? ''}`
  }
  t.regex(
    await looked(['resolve'], 'none'),
    /^destination_misconfigured connect: The host did not accept the connection within 5 seconds\. Check the host, /,
  )
  t.regex(
    await looked(['resolve', 'connect'], 'tls'),
    /^destination_misconfigured tls: The TLS handshake did not end within 5 seconds\. Check the port, /,
  )
  t.regex(
    await looked(['resolve', 'connect'], 'starttls'),
    /^destination_misconfigured greeting: The host accepted the connection and sent no greeting/,
  )
  t.regex(
    await looked(['resolve', 'connect', 'greeting'], 'none'),
    /^destination_misconfigured auth: The sign-in at the provider did not complete within 5 seconds\. Correct the user name or the password\. /,
  )
  for (const end of transport.held) end([])
})

test('stop(): aborts running probes and starts no others', async (t) => {
  const { fixture, transport, probes } = await setup(t)
  await fixture.destination()
  transport.probe = async (_: unknown, signal: AbortSignal) => {
    await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()))
    return []
  }
  const asked = probes.test(principal, 'dst_1')
  await fixture.settled()
  await probes.stop()
  await asked
  probes.used(organizationId, 'dst_1')
  t.is(fixture.clock.pending, 0)
})
