/** Statistics over time, from counts recorded with the events. */
import * as z from 'zod'
import type { Principal } from '#core/access/principal/principal.ts'
import type { InsightQuery } from '#core/insights/insights.ts'
import { action, type Action } from '../../actions/action.ts'
import type { Encoder } from '../../wire/fields/codec.ts'
import { withNumberForm } from '../../wire/fields/text-form.ts'
import {
  deliveryInsight,
  destinationInsight,
  domainInsight,
  ingestSourceInsight,
  insightFields,
  latencyInsight,
  publishableKeyInsight,
  sendInsight,
  smtpInsight,
  suppressionInsight,
  templateInsight,
  webhookEndpointInsight,
  webhookInsight,
} from '../../wire/insights/insight.ts'
import type { RestCore } from '../rest-core.ts'

const maxApart = 200
const most = withNumberForm(
  z
    .int()
    .min(1)
    .max(maxApart)
    .default(20)
    .meta({ description: `Maximum number of entries, from 1 to ${maxApart}, starting with the most active. Defaults to 20.` }),
  /^[1-9]\d{0,2}$/,
  `must be a whole number from 1 to ${maxApart}`,
)
const kept =
  'Counted with the events, at most one second late. Steps without events are included with zeros. Without a project, the ' +
  'statistics of the whole organization include deleted projects, except about the last 15 minutes before the deletion of each.'

type Read<Query, R> = (core: RestCore, principal: Principal, query: Query) => Promise<R>

const facts = { tags: ['insights'], scope: 'api:read', errors: ['not_found'] } as const
const figures = <R>(
  name: string,
  what: string,
  summary: string,
  output: Encoder<R>,
  read: Read<InsightQuery, R>,
  description = '',
): Action<RestCore> =>
  action({
    ...facts,
    ...{ id: `get${name}Insight`, summary, description: `${description}${kept}`, output },
    input: z.strictObject(insightFields),
    http: { method: 'GET', path: `/v1/insights/${what}` },
    run: ({ core, principal }, { project: projectId, ...query }) => read(core, principal, { projectId, ...query }),
  })
const apart = <R>(
  name: string,
  what: string,
  summary: string,
  output: Encoder<R>,
  read: Read<InsightQuery & { readonly limit: number }, R>,
): Action<RestCore> =>
  action({
    ...facts,
    ...{ id: `get${name}Insight`, summary, description: kept, output },
    input: z.strictObject({ ...insightFields, limit: most }),
    http: { method: 'GET', path: `/v1/insights/${what}` },
    run: ({ core, principal }, { project: projectId, ...query }) => read(core, principal, { projectId, ...query }),
  })

const { project: _, ...ofOrganization } = insightFields

const ofThings: readonly Action<RestCore>[] = [
  action({
    ...facts,
    id: 'getIngestSourceInsight',
    summary: 'Get the reports of each ingest source over time',
    description:
      'Counts every accepted report, with or without a matching message; repeated reports count once. Sources belong to the ' +
      `whole organization, so there is no project filter. ${kept}`,
    output: ingestSourceInsight,
    input: z.strictObject({ ...ofOrganization, limit: most }),
    http: { method: 'GET', path: '/v1/insights/ingest-sources' },
    run: ({ core, principal }, query) => core.insights.byIngestSource(principal, query),
  }),
  apart(
    'WebhookEndpoint',
    'webhook-endpoints',
    'Get the attempts of each webhook endpoint over time',
    webhookEndpointInsight,
    ({ insights }, principal, query) => insights.byThing('webhook', principal, query),
  ),
  apart('Template', 'templates', 'Get the sends of each template over time', templateInsight, ({ insights }, principal, query) =>
    insights.byThing('template', principal, query),
  ),
  apart(
    'PublishableKey',
    'publishable-keys',
    'Get the sends and refusals of each publishable key over time',
    publishableKeyInsight,
    ({ insights }, principal, query) => insights.byThing('publishableKey', principal, query),
  ),
]

const ofProject = ({ insights }: RestCore, principal: Principal, query: InsightQuery) => insights.ofProject(principal, query)
const ofDestinations = ({ insights }: RestCore, principal: Principal, query: InsightQuery) => insights.ofDestinations(principal, query)

export const insightActions: readonly Action<RestCore>[] = [
  figures('Send', 'sends', 'Get the sends over time, by outcome', sendInsight, ofProject),
  figures(
    'Delivery',
    'delivery',
    'Get the delivery results of recipients over time',
    deliveryInsight,
    ofDestinations,
    '`taken` (accepted) or `failed` at a provider, counted when the attempt ended; `deferred` for each attempt that postpones ' +
      'the recipient; `delivered`, `bounced` and `complained` from reports, counted when the attempt ended. A recipient that failed ' +
      'with a bounce counts in both. ',
  ),
  figures(
    'Latency',
    'latency',
    'Get the latency over time',
    latencyInsight,
    ofDestinations,
    '`first_attempt`: from acceptance by this service to the first attempt; `attempt`: duration of the attempt that the provider ' +
      'accepted; `delivery`: from acceptance by this service to acceptance by the provider. ',
  ),
  apart(
    'Destination',
    'destinations',
    'Get the attempts of each destination over time',
    destinationInsight,
    ({ insights }, principal, query) => insights.byThing('destination', principal, query),
  ),
  apart('Domain', 'domains', 'Get the delivery results by recipient domain', domainInsight, ({ insights }, principal, query) =>
    insights.byDomain(principal, query),
  ),
  figures('Webhook', 'webhooks', 'Get the attempts of webhooks over time', webhookInsight, ofProject),
  ...ofThings,
  figures('Suppression', 'suppressions', 'Get the new suppressions over time, by source', suppressionInsight, ofProject),
  figures('Smtp', 'smtp', 'Get the SMTP logins and refusals over time', smtpInsight, ofProject),
]
