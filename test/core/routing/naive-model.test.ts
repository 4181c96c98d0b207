/**
 * Compares routing with a model written from the specification alone, which scores every rule and keeps no order. The seed in the title
 * determines everything; one seed is new in every run.
 */
import test from '#test'
import { destinations, type Destination } from '#core/routing/destination.ts'
import { matchRoute, orderRules } from '#core/routing/match/match.ts'
import { decideOutcome } from '#core/routing/match/outcome.ts'
import { routingRules, type RoutingRule, type RuleMatch } from '#core/routing/rule.ts'
import { projects, type Project } from '#core/tenancy/organization.ts'
import { Seeded, seedOf } from '../../support/seeded.ts'
import {
  destinationDefaults,
  coreFixture,
  organizationId,
  projectDefaults,
  projectId as firstProject,
  principal,
  type CoreFixture,
} from '../core-fixture.ts'

const projectIds = [firstProject, 'prj_2', 'prj_3']
/** Nested labels, labels with a common prefix, and a label with two spellings. */
const labels = ['a', 'b', 'shop', 'xshop', 'ch', 'müller']
const asAscii: Readonly<Record<string, string>> = { müller: 'xn--mller-kva' }
const locals = ['info', 'sales', 'b.ch']
const environments = ['production', 'staging', 'empty']

interface World {
  readonly projects: readonly Project[]
  readonly destinations: readonly Destination[]
  readonly rules: readonly RoutingRule[]
  /** Destinations with an open circuit breaker. */
  readonly down: ReadonlySet<string>
}

interface Question {
  readonly projectId: string
  readonly local: string
  readonly labels: readonly string[]
  /** Destination or environment named by the caller. */
  readonly named: Named | undefined
}

type Named = { readonly destinationId: string } | { readonly environment: string }

const domainOf = (random: Seeded, least: number): string[] => Array.from({ length: random.between(least, 4) }, () => random.pick(labels))
const kept = (parts: readonly string[]): string => parts.map((part) => asAscii[part] ?? part).join('.')
/** Spelling of a person: any case, and the label in Unicode or ASCII. */
const typed = (random: Seeded, text: string): string => (random.chance(0.3) ? text.toUpperCase() : text)
const spelled = (random: Seeded, parts: readonly string[]): string => typed(random, random.chance(0.5) ? parts.join('.') : kept(parts))

function matchOf(random: Seeded): RuleMatch {
  if (random.chance(0.1)) return { any: true }
  if (random.chance(0.3)) return { from: `${random.pick(locals)}@${kept(domainOf(random, 1))}` }
  return { domain: (random.chance(0.5) ? '*.' : '') + kept(domainOf(random, 1)) }
}

function worldOf(random: Seeded): World {
  const of = (): string => random.pick(projectIds)
  const defaultAt = random.chance(0.5) ? random.between(0, 11) : undefined
  const all = Array.from({ length: 12 }, (_, i): Destination => {
    const shared = i === defaultAt ? 'org_default' : random.chance(0.3) ? 'org' : undefined
    const mode = random.chance(0.7) ? 'live' : 'sandbox'
    const environment = random.chance(0.6) ? random.pick(['production', 'staging']) : null
    const [priority, createdAt] = [random.between(1, 3), random.between(0, 2)]
    return { ...destinationDefaults, id: `dst_${i}`, projectId: of(), mode, environment, priority, createdAt, ...(shared && { shared }) }
  })
  const rules = Array.from({ length: random.between(0, 25) }, (_, i): RoutingRule => {
    const id = random.chance(0.05) ? 'dst_gone' : random.pick(all).id
    const leadsTo = random.chance(0.3) ? { destinationId: null, environment: random.pick(environments) } : { destinationId: id }
    const createdAt = random.between(0, 3)
    return {
      id: `rul_${random.between(0, 9)}_${i}`,
      projectId: of(),
      match: matchOf(random),
      priority: random.between(0, 3),
      createdAt,
      ...leadsTo,
    }
  })
  const status = () => (random.chance(0.1) ? 'anonymous' : 'claimed')
  const environment = () => (random.chance(0.5) ? random.pick(environments) : null)
  const policy = () => random.pick(['capture', 'reject', 'relay_default'] as const)
  return {
    projects: projectIds.map((id) => ({ ...projectDefaults, id, status: status(), noRoutePolicy: policy(), environment: environment() })),
    destinations: all,
    rules,
    down: new Set(all.filter(() => random.chance(0.3)).map(({ id }) => id)),
  }
}

const questionOf = (random: Seeded, world: World): Question => ({
  projectId: random.pick(projectIds),
  local: random.pick(locals),
  labels: domainOf(random, 1),
  named: random.chance(0.3) ? namedOf(random, world) : undefined,
})

function namedOf(random: Seeded, world: World): Named {
  if (random.chance(0.5)) return { environment: random.pick(environments) }
  return { destinationId: random.pick([...world.destinations.map(({ id }) => id), 'dst_gone']) }
}

/** Score of a rule, or undefined: whole address, whole domain, subdomain by number of labels, anything. */
function fit(match: RuleMatch, { local, labels: parts }: Question): number | undefined {
  if ('any' in match) return 0
  const sender = kept(parts).split('.')
  if ('from' in match) return match.from === `${local}@${sender.join('.')}` ? 1000 : undefined
  const wanted = match.domain.split('.')
  if (wanted[0] !== '*') return wanted.length === sender.length && wanted.every((label, i) => label === sender[i]) ? 500 : undefined
  const below = wanted.slice(1)
  const more = sender.length - below.length
  return more > 0 && below.every((label, i) => label === sender[more + i]) ? below.length : undefined
}

/** A destination that the project may use. */
const reachable = ({ projectId }: Question, one: Destination): boolean => one.projectId === projectId || one.shared !== undefined

/** Target of a rule, request or project: the destination, or the best destination of the environment. */
function target(world: World, question: Question, asked: { destinationId?: string | null; environment?: string | null | undefined }) {
  const open = world.destinations.filter((one) => reachable(question, one))
  if (asked.environment == null) return open.find(({ id }) => id === asked.destinationId)
  let best: Destination | undefined
  // live before sandbox, up before down among live ones, then smallest priority, then oldest
  const score = ({ id, mode, priority, createdAt }: Destination): readonly (number | string)[] =>
    mode === 'live' ? [0, world.down.has(id) ? 1 : 0, priority, createdAt, id] : [1, 0, priority, createdAt, id]
  for (const one of open) if (one.environment === asked.environment && (!best || isBefore(score(one), score(best)))) best = one
  return best
}

/** Returns the specified destination and outcome, or the refusal. */
function expected(world: World, question: Question): string {
  if (question.named !== undefined) {
    const named = target(world, question, question.named)
    return named ? fate(world, question, 'request', null, named) : 'refused validation_failed'
  }
  let best: { readonly rule: RoutingRule; readonly score: readonly (number | string)[] } | undefined
  for (const rule of world.rules) {
    const fits = rule.projectId === question.projectId && target(world, question, rule) ? fit(rule.match, question) : undefined
    if (fits === undefined) continue
    const score = [rule.priority, -fits, rule.createdAt, rule.id]
    if (!best || isBefore(score, best.score)) best = { rule, score }
  }
  if (best) return fate(world, question, 'rule', best.rule.id, target(world, question, best.rule))
  const project = world.projects.find(({ id }) => id === question.projectId)
  const own = project?.environment == null ? undefined : target(world, question, { environment: project.environment })
  if (own) return fate(world, question, 'project', null, own)
  const fallback = world.destinations.find(({ shared }) => shared === 'org_default')
  return fate(world, question, fallback ? 'org_default' : 'none', null, fallback)
}

function isBefore(a: readonly (number | string)[], b: readonly (number | string)[]): boolean {
  for (const [i, value] of a.entries()) if (value !== b[i]) return value < (b[i] ?? '')
  return false
}

function fate(world: World, { projectId }: Question, by: string, ruleId: string | null, found: Destination | undefined): string {
  const project = world.projects.find(({ id }) => id === projectId)
  const told = (outcome: string, id: string | null): string => [by, ruleId, outcome, id].join(' ')
  if (project?.status === 'anonymous') return told('captured.anonymous_project', null)
  if (found) return told(found.mode === 'sandbox' ? 'captured.sandbox_destination' : 'relayed', found.id)
  return project?.noRoutePolicy === 'capture' ? told('captured.no_route', null) : 'refused no_route'
}

/** Returns the decision of the code. */
function decided(world: World, question: Question, from: string): string {
  const settings = {
    destinations: new Map(world.destinations.map((one) => [one.id, one])),
    rules: Map.groupBy(orderRules(world.rules), (rule) => rule.projectId),
    orgDefault: world.destinations.find(({ shared }) => shared === 'org_default'),
    projects: new Map(world.projects.map((one) => [one.id, one])),
  }
  const project = world.projects.find(({ id }) => id === question.projectId)
  if (!project) throw new Error(`no project ${question.projectId}`)
  const asked = question.named && { by: 'request' as const, ...question.named }
  try {
    const route = matchRoute(settings, { projectId: project.id, from, asked }, { restMs: ({ id }) => (world.down.has(id) ? 1000 : 0) })
    const { outcome, destinationId } = decideOutcome(project, route)
    return [route.by, route.ruleId, outcome, destinationId].join(' ')
  } catch (error) {
    return `refused ${(error as { code: string }).code}`
  }
}

const seeds = new Set([1, 2, 3, seedOf(4)])

for (const seed of seeds) {
  test(`routing: equals the naive model, seed ${seed}`, (t) => {
    const random = new Seeded(seed)
    const seen = new Map<string, number>()
    for (let n = 0; n < 400; n++) {
      const world = worldOf(random)
      for (let m = 0; m < 15; m++) {
        const question = questionOf(random, world)
        const from = `${typed(random, question.local)}@${spelled(random, question.labels)}`
        const model = expected(world, question)
        const code = decided(world, question, from)
        if (code !== model)
          t.fail(`seed ${seed}: ${from} in ${question.projectId}: ${code}, but the model says ${model}\n${JSON.stringify(world)}`)
        const [by = ''] = model.split(' ')
        seen.set(by, (seen.get(by) ?? 0) + 1)
      }
    }
    for (const by of ['request', 'rule', 'project', 'org_default', 'none', 'refused'])
      t.true((seen.get(by) ?? 0) > 50, `${by}: ${seen.get(by)}`)
  })

  test(`routing: sends through the store equal the naive model, seed ${seed}`, async (t) => {
    const random = new Seeded(seed).branch('store')
    const fixture = await coreFixture(t, { deaf: true })
    const world = worldOf(random)
    for (const one of world.projects) await fixture.put(projects, one)
    for (const one of world.destinations) await fixture.put(destinations, one)
    for (const one of world.rules) await fixture.put(routingRules, one)
    for (const one of world.destinations) if (world.down.has(one.id)) breakDown(fixture, one)
    const { health, core } = fixture
    for (const one of world.destinations) t.is(health.restMs(one) > 0, world.down.has(one.id))
    for (let n = 0; n < 60; n++) {
      const question = questionOf(random, world)
      const headerFrom = `${typed(random, question.local)}@${spelled(random, question.labels)}`
      const send = { projectId: question.projectId, ...question.named, facts: { ...facts, headerFrom } }
      const told = await fixture.submit(send).then(
        async ({ traceId }) => {
          const { route, outcome, destinationId } = await fixture.trace(traceId)
          return [route.by, route.ruleId, outcome, destinationId].join(' ')
        },
        (error: { code: string }) => `refused ${error.code}`,
      )
      t.is(told, expected(world, question), `seed ${seed}: ${headerFrom}`)
      const asked = { from: headerFrom, rcptTo: ['anna@example.net'], projectId: question.projectId, smtpCredentialId: undefined }
      const { route, decision, refusal } = await core.simulate.ofRequest(
        { ...principal, bound: false },
        { ...asked, destinationId: undefined, ...question.named, size: 100, attachments: 0 },
      )
      const simulated = [route?.by, route?.ruleId ?? null, decision?.outcome, decision?.destinationId ?? null].join(' ')
      t.is(refusal ? `refused ${refusal.code}` : simulated, told, `seed ${seed}: the simulation of ${headerFrom} equals the send`)
    }
  })
}

/** Opens the breaker as failed attempts would. */
function breakDown({ health }: CoreFixture, destination: Destination): void {
  const report = { error: { code: 'connect_timeout', message: 'x', phase: 'connect' }, milliseconds: {}, recipients: [] }
  for (let n = 0; n < 5; n++) {
    health.attempting(destination)
    health.attempted(organizationId, destination, { ...report, recipients: [{ address: 'a@b.ch', verdict: 'transient' }] } as never)
  }
}

const facts = { prefix: '', subject: 'hi', messageId: 'm@example.com', headerAddresses: [], eightBit: false }
