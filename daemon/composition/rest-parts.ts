/** What the REST side is built from, taken out of the container. */
import { T, type Foundation, type Resolve } from './parts.ts'
import type { RestParts } from './rest-core.ts'

export function restParts(resolve: Resolve, { config, secrets }: Pick<Foundation, 'config' | 'secrets'>): RestParts {
  return {
    database: resolve(T.Database),
    policies: resolve(T.Policies),
    clock: resolve(T.Clock),
    secrets,
    config,
    writes: resolve(T.Writes),
    apiKeys: resolve(T.ApiKeys),
    people: resolve(T.People),
    claims: resolve(T.Claims),
    smtpCredentials: resolve(T.Credentials),
    transport: resolve(T.Transport),
    resolver: resolve(T.Resolver),
    destinations: resolve(T.Destinations),
    probes: resolve(T.Probes),
    health: resolve(T.HealthRegistry),
    accept: resolve(T.Accept),
    replayRunner: resolve(T.ReplayRunner),
    queue: resolve(T.Queue),
    engagements: resolve(T.Engagements),
    inspectTests: resolve(T.MailDoors).inspect.inspectTests,
    ingest: resolve(T.Ingest),
    publishable: resolve(T.Publishable),
    ...resolve(T.Administration),
    ...resolve(T.Webhooks),
    ...resolve(T.Inboxes),
    ...resolve(T.Inbound),
  }
}
