/** `postern queue`: lists, holds, releases, expedites and drops queued messages through the REST API. */
import type { Config } from '#config/settings/load.ts'
import { cleanJson, cleanText } from '../../observability/clean-text.ts'
import { exitCodes, type ExitCode } from '../../process/lifecycle.ts'
import { callDaemon, chosenDaemon, operatedDaemon, pageIn, postToDaemon, reachDaemon } from '../daemon-client.ts'
import { table } from '../operator/text-table.ts'
import { carriedOut, outcome, preview, type Access, type Act } from './queue-act.ts'
import { listHolds, stand } from './queue-holds.ts'
import type { QueueArguments } from './queue-arguments.ts'

interface Surroundings {
  readonly env: NodeJS.ProcessEnv
  readonly stdout: { write(text: string): unknown }
}

/** Prints the list, the count of a dry run, or the result. Throws `StartRefused` with the daemon's message. */
export async function queue(config: Config, args: QueueArguments, { env, stdout }: Surroundings): Promise<ExitCode> {
  const { access, path } = await reached(config, args, env)
  if (args.verb === 'list') return list(access, path, args, stdout)
  if (args.verb === 'holds') return listHolds(access, path, args, stdout)
  if (args.isConfirmed && (args.isStanding || args.hold !== undefined)) return stand(access, path, args, stdout)
  const meant = args.hold === undefined ? args.filter : { held_by: args.hold }
  const request = { act: args.verb, filter: meant, ...(args.reason !== undefined && { reason: args.reason }) }
  const count = async (): Promise<Act> => (await postToDaemon(access, `${path}/acts`, { ...request, dry_run: true })) as Act
  const found = await count()
  if (!args.isConfirmed) {
    stdout.write(
      args.asJson ? `${cleanJson(JSON.stringify(found))}\n` : preview(args.verb, found, args.isStanding || args.hold !== undefined),
    )
    return exitCodes.ok
  }
  if (found.matched === 0 && found.complete !== false) {
    stdout.write(args.asJson ? `${cleanJson(JSON.stringify(found))}\n` : `${args.verb}: no message matches.\n`)
    return exitCodes.ok
  }
  for (let next = found; ; next = await count()) {
    const act = await carriedOut(access, path, request, next)
    stdout.write(args.asJson ? `${cleanJson(JSON.stringify(act))}\n` : outcome(args.verb, act))
    if (act.status !== 'finished') return exitCodes.failed
    if (act.complete !== false || act.counters.acted === 0) return exitCodes.ok // otherwise more messages match than one action processes
  }
}

/** Chooses the credential and path: the API key, or the operator key with `--organization`. */
async function reached(config: Config, args: QueueArguments, env: NodeJS.ProcessEnv): Promise<{ access: Access; path: string }> {
  const { organization, url } = args
  if (organization === undefined) return { access: await chosenDaemon(config, args, env), path: '/v1/queue' }
  return { access: await operatedDaemon(config, url), path: `/operator/v1/organizations/${encodeURIComponent(organization)}/queue` }
}

type Row = Readonly<Record<string, unknown>>

/** Prints up to the requested number of rows, and a notice if there are more. */
async function list(
  access: Access,
  path: string,
  { filter, isHeld, limit, asJson }: QueueArguments,
  out: Surroundings['stdout'],
): Promise<ExitCode> {
  const { project_id: project, ...asked } = filter
  const fields = { ...stringsOf({ ...asked, project }), ...(isHeld && { held: 'true' }) }
  const data: Row[] = []
  let cursor: string | null = ''
  do {
    const query = new URLSearchParams({ ...fields, limit: String(Math.min(200, limit - data.length)), ...(cursor && { cursor }) })
    const page = pageIn<Row>(access, await (await callDaemon(access, 'GET', `${path}?${query.toString()}`)).json())
    data.push(...page.data)
    cursor = page.next_cursor
  } while (cursor !== null && data.length < limit)
  if (asJson) out.write(`${cleanJson(JSON.stringify({ data, next_cursor: cursor }))}\n`)
  else if (data.length === 0) out.write('No queued messages.\n')
  else out.write(table(head, data.map(rowWith(await destinationNames(access, path)))) + (cursor === null ? '' : moreThan(limit)))
  return exitCodes.ok
}

const moreThan = (limit: number): string => `These are the first ${limit} messages. For more, raise --limit or narrow the filter.\n`

const head = ['TRACE', 'STATE', 'NEXT ATTEMPT', 'TRIES', 'DESTINATION', 'FROM', 'TO', 'LAST REPLY']
/** Maximum widths of columns with long values, in characters. */
const [addressWidth, nameWidth, replyWidth] = [32, 20, 60]

/** Names of destinations by id. Empty for the operator, who has no access to the destinations of an organization. */
async function destinationNames(access: Access, path: string): Promise<ReadonlyMap<unknown, unknown>> {
  if (path !== '/v1/queue') return new Map()
  const response = await reachDaemon(access, 'GET', '/v1/destinations?limit=200')
  if (!response.ok) return new Map()
  const { data } = pageIn<Row>(access, await response.json())
  return new Map(data.map(({ id, name }) => [id, name]))
}

const rowWith =
  (names: ReadonlyMap<unknown, unknown>) =>
  (one: Row): readonly unknown[] => {
    const to = one['to'] as readonly string[]
    const more = to.length > 1 ? ` (+${to.length - 1})` : ''
    const destination = one['destination_id']
    return [
      one['trace_id'],
      one['state'],
      cleanText(one['next_attempt_at'] ?? '-').slice(0, 19),
      one['attempts'],
      cut(names.get(destination) ?? destination, names.has(destination) ? nameWidth : Infinity),
      cut(one['from'], addressWidth),
      cut(to[0] ?? '', addressWidth) + more,
      cut(one['last_reply'] ?? '', replyWidth),
    ]
  }

function cut(given: unknown, width: number): string {
  const text = cleanText(given)
  return text.length <= width ? text : `${text.slice(0, width - 1).toWellFormed()}…`
}

const stringsOf = (fields: Readonly<Record<string, string | number | readonly string[] | undefined>>): Record<string, string> =>
  Object.fromEntries(Object.entries(fields).flatMap(([name, value]) => (value === undefined ? [] : [[name, String(value)]])))
