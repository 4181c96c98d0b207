/** Runs an action of `postern queue`, waits for its end, and describes the result. */
import { setTimeout as pause } from 'node:timers/promises'
import { cleanText } from '../../observability/clean-text.ts'
import { callDaemon, postToDaemon, type chosenDaemon } from '../daemon-client.ts'
import { table } from '../operator/text-table.ts'

export interface Act {
  readonly id: string | null
  readonly status: string
  readonly filter: Readonly<Record<string, unknown>>
  readonly matched: number | null
  readonly complete: boolean | null
  readonly lanes: readonly { readonly destination_id: string; readonly project_id: string; readonly count: number }[] | null
  readonly counters: { readonly acted: number; readonly in_flight: number; readonly skipped: number }
  readonly stopped_because: string | null
}

export type Access = Awaited<ReturnType<typeof chosenDaemon>>

/** Interval between reads of the action's status. */
const lookMs = 200

/** Starts the action on the counted messages and waits for its end. */
export async function carriedOut(access: Access, path: string, request: object, { filter: counted, matched: expected }: Act): Promise<Act> {
  const filter = Object.fromEntries(Object.entries(counted).filter(([, value]) => value !== null))
  return followed(access, path, (await postToDaemon(access, `${path}/acts`, { ...request, filter, expected })) as Act)
}

/** Waits until the action has ended. */
export async function followed(access: Access, path: string, begun: Act): Promise<Act> {
  let act = begun
  while (act.status === 'running') {
    await pause(lookMs)
    act = (await (await callDaemon(access, 'GET', `${path}/acts/${act.id ?? ''}`)).json()) as Act
  }
  return act
}

/** `isOfHold`: the command sets or releases a standing hold, which has an effect even if no message matches. */
export function preview(verb: string, { matched, complete, lanes }: Act, isOfHold: boolean): string {
  const rows = (lanes ?? []).map((lane) => [lane.destination_id, lane.project_id, lane.count])
  const count = `${messages(matched ?? 0)} match${complete === false ? ' in the first batch, and there may be more' : ''}.`
  const next = matched === 0 && !isOfHold ? '' : ` Nothing was changed. Add --yes to ${verb} them.`
  return `${rows.length === 0 ? '' : table(['DESTINATION', 'PROJECT', 'MESSAGES'], rows)}${count}${next}\n`
}

export function outcome(verb: string, { counters, status, stopped_because: because }: Act): string {
  const { acted, in_flight: later, skipped } = counters
  const rest = [
    later > 0 ? `${later} of them after the current attempt` : '',
    skipped > 0 ? `${skipped} skipped because ${verb} does not apply` : '',
  ].filter(Boolean)
  const end = status === 'finished' ? '' : ` The action was stopped: ${cleanText(because ?? '')}`
  return `${verb}: ${messages(acted)}${rest.length > 0 ? `, ${rest.join(', ')}` : ''}.${end}\n`
}

const messages = (count: number): string => `${count} ${count === 1 ? 'message' : 'messages'}`
