/** Intercepts calls between a dashboard tab and the service: forwards, holds or answers them. */
import { restOperations } from '../../../../admin-api/rest/rest-operations.ts'
import type { Page } from '../../../support/web/browser.ts'

/** Handling of read requests. */
export type Mode = 'through' | 'held' | 'failing' | 'forbidden'

export interface Gate {
  mode: Mode
  /** Ids of operations that would have changed data. None of them reached the service. */
  readonly attempted: Set<string>
}

interface Known {
  readonly operationId: string
  readonly method: string
  readonly scope: string
  readonly pattern: RegExp
}

const known: readonly Known[] = restOperations.map(({ operationId, method, path, scope }) => ({
  ...{ operationId, method, scope },
  pattern: new RegExp(`^${path.replaceAll(/[.+]/g, String.raw`\$&`).replaceAll(/\{\w+\}/g, '[^/]+')}$`),
}))

const refusals = {
  failing: [500, { code: 'internal_error', message: 'Something broke.', next_action: 'retry', details: {} }],
  forbidden: [
    403,
    { code: 'insufficient_scope', message: 'It is not yours.', next_action: 'ask_owner', details: { required_scope: 'api:admin' } },
  ],
  changing: [409, { code: 'conflict', message: 'Nothing is changed here.', next_action: 'read_first', details: {} }],
} as const

export async function gateOf(page: Page): Promise<Gate> {
  const gate: Gate = { mode: 'through', attempted: new Set() }
  await page.route(/\/v1\/|\/openapi\.json$/, async (route) => {
    const request = route.request()
    const { pathname } = new URL(request.url())
    const method = request.method()
    const refuse = async ([status, error]: readonly [number, object]): Promise<void> => {
      await route.fulfill({ status, contentType: 'application/json', body: JSON.stringify({ error }) })
    }
    const operation = known.find((one) => one.method === method && one.pattern.test(pathname))
    if (operation?.operationId === 'streamEvents') return route.fulfill({ status: 404 })
    if (method !== 'GET' && operation?.scope !== 'api:read') {
      gate.attempted.add(operation?.operationId ?? `${method} ${pathname}`)
      return refuse(refusals.changing)
    }
    if (gate.mode === 'through') return route.continue()
    return gate.mode === 'held' ? undefined : refuse(refusals[gate.mode])
  })
  return gate
}
