/** Operations of the process: health, readiness, metrics, and the OpenAPI document of all operations. */
import * as z from 'zod'
import { answer, media, raw } from '../operation/answer.ts'
import { runInSteps } from '#core/event-loop.ts'
import { buildingOpenApi } from '../openapi/openapi.ts'
import { operation, type Operation } from '../operation/operation.ts'
import { BuiltText } from '../operation/built-text.ts'

/** Whether the service can do its work. */
export interface Health {
  /** Reasons why it is not ready, one short text each: a listener that is down, a store that rejects writes. Empty if it is ready. */
  ready(): readonly string[]
  /** Problems that need the operator soon, although the service works. */
  warnings?(): readonly string[]
}

/** The metrics of the process as text; `contentType` names their format. */
export interface MetricsSource {
  readonly contentType: string
  render(): Promise<string>
}

export interface SystemParts<C> {
  /** For the OpenAPI document. */
  readonly core: C
  readonly health: Health
  readonly metrics: MetricsSource
  /** Public URL of the service, for the OpenAPI document. */
  readonly baseUrl: string
  readonly version: string
  isDraining(): boolean
}

const processFacts = { method: 'GET', tags: ['process'], scope: 'none' } as const
const probe = { ...processFacts, bypassesLoadShedding: true, isFree: true } as const

/** `/healthz`, `/readyz`, `/metrics` and `/openapi.json`; the document describes `operations` and these four. */
export function systemOperations<C>(parts: SystemParts<C>, operations: readonly Operation<C>[]): readonly Operation[] {
  const document = new BuiltText('application/json', async () =>
    JSON.stringify(await runInSteps(buildingOpenApi([...operations, ...system], parts))),
  )
  const system: Operation[] = [healthz, readyz(parts), metrics(parts)]
  const openapi = operation({
    ...processFacts,
    path: '/openapi.json',
    operationId: 'getOpenApi',
    summary: 'Get the OpenAPI 3.1 description of this service',
    response: media('application/json'),
    handle: ({ headers }) => document.answer(headers),
  })
  system.push(openapi)
  return system
}

const healthz = operation({
  ...probe,
  path: '/healthz',
  operationId: 'getHealth',
  summary: 'Check that the process is alive',
  response: z.object({ status: z.literal('alive') }),
  handle: () => ({ status: 'alive' as const }),
})

const readiness = z.object({ status: z.enum(['ready', 'not_ready']), reasons: z.array(z.string()), warnings: z.array(z.string()) })

function readyz(parts: Pick<SystemParts<unknown>, 'health' | 'isDraining'>): Operation {
  return operation({
    ...probe,
    path: '/readyz',
    operationId: 'getReadiness',
    summary: 'Check that the service is ready',
    response: readiness,
    otherResponses: { 503: 'The service is not ready; `reasons` lists why.' },
    handle() {
      const reasons = parts.isDraining() ? ['the service is closing'] : [...parts.health.ready()]
      const warnings = [...(parts.health.warnings?.() ?? [])]
      if (reasons.length === 0) return { status: 'ready' as const, reasons, warnings }
      return answer({ status: 'not_ready', reasons, warnings }, { status: 503 })
    },
  })
}

function metrics(parts: Pick<SystemParts<unknown>, 'metrics'>): Operation {
  return operation({
    ...processFacts,
    bypassesLoadShedding: true,
    path: '/metrics',
    operationId: 'getMetrics',
    summary: 'Get the metrics of the process in the Prometheus format',
    response: media('text/plain'),
    handle: async () => raw(await parts.metrics.render(), { contentType: parts.metrics.contentType }),
  })
}
