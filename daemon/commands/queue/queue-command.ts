/** `postern queue`: what waits, and holding, releasing, expediting and dropping it, by the same REST calls as everybody's. */
import { publicUrl, type Config } from '#config/settings/load.ts'
import { cleanJson } from '../../observability/clean-text.ts'
import { exitCodes, type ExitCode } from '../../process/lifecycle.ts'
import { StartRefused } from '../../process/start-refused.ts'
import { callDaemon, chosenDaemon, postToDaemon } from '../daemon-client.ts'
import { table } from '../operator/text-table.ts'
import { carriedOut, outcome, preview, type Access, type Act } from './queue-act.ts'
import { listHolds, stand } from './queue-holds.ts'
import type { QueueWords } from './queue-words.ts'

interface Surroundings {
  readonly env: NodeJS.ProcessEnv
  readonly stdout: { write(text: string): unknown }
}

/** Prints the list, the count of a dry run, or what was done. Throws `StartRefused` with the daemon's words when it refuses. */
export async function queue(config: Config, words: QueueWords, { env, stdout }: Surroundings): Promise<ExitCode> {
  const { access, path } = await reached(config, words, env)
  if (words.verb === 'list') return list(access, path, words, stdout)
  if (words.verb === 'holds') return listHolds(access, path, words, stdout)
  if (words.isConfirmed && (words.isStanding || words.hold !== undefined)) return stand(access, path, words, stdout)
  const meant = words.hold === undefined ? words.filter : { held_by: words.hold }
  const request = { act: words.verb, filter: meant, ...(words.reason !== undefined && { reason: words.reason }) }
  const count = async (): Promise<Act> => (await postToDaemon(access, `${path}/acts`, { ...request, dry_run: true })) as Act
  const found = await count()
  if (!words.isConfirmed) {
    stdout.write(
      words.asJson ? `${cleanJson(JSON.stringify(found))}\n` : preview(words.verb, found, words.isStanding || words.hold !== undefined),
    )
    return exitCodes.ok
  }
  for (let next = found; ; next = await count()) {
    const act = await carriedOut(access, path, request, next)
    stdout.write(words.asJson ? `${cleanJson(JSON.stringify(act))}\n` : outcome(words.verb, act))
    if (act.status !== 'finished') return exitCodes.failed
    if (act.complete !== false || act.counters.acted === 0) return exitCodes.ok // else there are more than are counted at a time
  }
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
