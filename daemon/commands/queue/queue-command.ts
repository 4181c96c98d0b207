/** `postern queue`: what waits, and holding, releasing, expediting and dropping it, by the same REST calls as everybody's. */
import { setTimeout as pause } from 'node:timers/promises'
import { publicUrl, type Config } from '#config/settings/load.ts'
import { cleanJson, cleanText } from '../../observability/clean-text.ts'
import { exitCodes, type ExitCode } from '../../process/lifecycle.ts'
import { StartRefused } from '../../process/start-refused.ts'
import { callDaemon, chosenDaemon, postToDaemon } from '../daemon-client.ts'
import { table } from '../operator-command.ts'
import type { QueueWords } from './queue-words.ts'

interface Surroundings {
  readonly env: NodeJS.ProcessEnv
  readonly stdout: { write(text: string): unknown }
}

interface Act {
  readonly id: string | null
  readonly status: string
  readonly filter: Readonly<Record<string, unknown>>
  readonly matched: number | null
  readonly complete: boolean | null
  readonly lanes: readonly { readonly destination_id: string; readonly project_id: string; readonly count: number }[] | null
  readonly counters: { readonly acted: number; readonly in_flight: number; readonly skipped: number }
  readonly stopped_because: string | null
}

type Access = Awaited<ReturnType<typeof chosenDaemon>>

/** Looked at so often until an act has ended. */
const lookMs = 200

/** Prints the list, the count of a dry run, or what was done. Throws `StartRefused` with the daemon's words when it refuses. */
export async function queue(config: Config, words: QueueWords, { env, stdout }: Surroundings): Promise<ExitCode> {
  const { access, path } = await reached(config, words, env)
  if (words.verb === 'list') return list(access, path, words, stdout)
  const request = { act: words.verb, filter: words.filter, ...(words.reason !== undefined && { reason: words.reason }) }
  const count = async (): Promise<Act> => (await postToDaemon(access, `${path}/acts`, { ...request, dry_run: true })) as Act
  const found = await count()
  if (!words.isConfirmed) {
    stdout.write(words.asJson ? `${cleanJson(JSON.stringify(found))}\n` : preview(words.verb, found))
    return exitCodes.ok
  }
  for (let next = found; ; next = await count()) {
    const act = await carriedOut(access, path, request, next)
    stdout.write(words.asJson ? `${cleanJson(JSON.stringify(act))}\n` : outcome(words.verb, act))
    if (act.status !== 'finished') return exitCodes.failed
    if (act.complete !== false || act.counters.acted === 0) return exitCodes.ok // else there are more than are counted at a time
  }
}

/** Acts on what was counted, and waits for the end. */
async function carriedOut(access: Access, path: string, request: object, { filter: counted, matched: expected }: Act): Promise<Act> {
  const filter = Object.fromEntries(Object.entries(counted).filter(([, value]) => value !== null))
  let act = (await postToDaemon(access, `${path}/acts`, { ...request, filter, expected })) as Act
  while (act.status === 'running') {
    await pause(lookMs)
    act = (await (await callDaemon(access, 'GET', `${path}/acts/${act.id ?? ''}`)).json()) as Act
  }
  return act
}

/** As whoever holds the key, or as the operator inside one organization. */
async function reached(config: Config, words: QueueWords, env: NodeJS.ProcessEnv): Promise<{ access: Access; path: string }> {
  const { organization, url } = words
  if (organization === undefined) return { access: await chosenDaemon(config, words, env), path: '/v1/queue' }
  if (config.operatorKey === null)
    throw new StartRefused('Set POSTERN_OPERATOR_KEY to the key that the daemon runs with.', exitCodes.configuration)
  const origin = url ?? publicUrl(config, config.http.listen)
  return { access: { origin, token: config.operatorKey }, path: `/operator/v1/organizations/${encodeURIComponent(organization)}/queue` }
}

async function list(access: Access, path: string, { filter, isHeld, asJson }: QueueWords, out: Surroundings['stdout']): Promise<ExitCode> {
  const data: Readonly<Record<string, unknown>>[] = []
  const { project_id: project, ...asked } = filter
  for (let cursor: string | null = ''; cursor !== null;) {
    const query = new URLSearchParams({
      limit: '200',
      ...stringsOf({ ...asked, project }),
      ...(isHeld && { held: 'true' }),
      ...(cursor && { cursor }),
    })
    const page = (await (await callDaemon(access, 'GET', `${path}?${query.toString()}`)).json()) as {
      readonly data: Readonly<Record<string, unknown>>[]
      readonly next_cursor: string | null
    }
    data.push(...page.data)
    cursor = page.next_cursor
  }
  if (asJson) out.write(`${cleanJson(JSON.stringify({ data }))}\n`)
  else out.write(data.length === 0 ? 'Nothing waits.\n' : table(head, data.map(rowOf)))
  return exitCodes.ok
}

const head = ['TRACE', 'STATE', 'NEXT ATTEMPT', 'ATTEMPTS', 'DESTINATION', 'FROM', 'TO', 'LAST REPLY']

const rowOf = (one: Readonly<Record<string, unknown>>): readonly unknown[] => {
  const to = one['to'] as readonly string[]
  const more = to.length > 1 ? ` and ${to.length - 1} more` : ''
  return [
    one['trace_id'],
    one['state'],
    one['next_attempt_at'] ?? '-',
    one['attempts'],
    one['destination_id'],
    one['from'],
    `${to[0] ?? ''}${more}`,
    one['last_reply'] ?? '',
  ]
}

const stringsOf = (fields: Readonly<Record<string, string | number | readonly string[] | undefined>>): Record<string, string> =>
  Object.fromEntries(Object.entries(fields).flatMap(([name, value]) => (value === undefined ? [] : [[name, String(value)]])))

function preview(verb: string, { matched, complete, lanes }: Act): string {
  const rows = (lanes ?? []).map((lane) => [lane.destination_id, lane.project_id, lane.count])
  const count = `${messages(matched ?? 0)} match${complete === false ? ' in the part that is counted at a time, and there are more behind it' : ''}.`
  const next = matched === 0 ? '' : ` Nothing was done; with --yes, ${verb} is.`
  return `${rows.length === 0 ? '' : table(['DESTINATION', 'PROJECT', 'MESSAGES'], rows)}${count}${next}\n`
}

function outcome(verb: string, { counters, status, stopped_because: because }: Act): string {
  const { acted, in_flight: later, skipped } = counters
  const rest = [
    later > 0 ? `${later} of them once the attempt under way ends` : '',
    skipped > 0 ? `${skipped} skipped, as it does not apply to them` : '',
  ].filter(Boolean)
  const end = status === 'finished' ? '' : ` It was stopped: ${cleanText(because ?? '')}`
  return `${verb}: ${messages(acted)}${rest.length > 0 ? `, ${rest.join(', ')}` : ''}.${end}\n`
}

const messages = (count: number): string => `${count} ${count === 1 ? 'message' : 'messages'}`
