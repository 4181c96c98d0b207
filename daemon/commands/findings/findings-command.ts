/** `postern findings`: lists problems that the daemon found in an organization, through the REST API. */
import type { Config } from '#config/settings/load.ts'
import { cleanJson, cleanText } from '../../observability/clean-text.ts'
import { exitCodes, type ExitCode } from '../../process/lifecycle.ts'
import type { DaemonChoice } from '../command-line.ts'
import type { FindingsArguments } from './findings-arguments.ts'
import { chosenDaemon, getFromDaemon, pageIn } from '../daemon-client.ts'

interface Row {
  readonly kind: string
  readonly severity: string
  readonly title: string
  readonly summary: string
  readonly fix: string
  readonly opened_at: string
  readonly over_at: string | null
}

interface Surroundings {
  readonly env: NodeJS.ProcessEnv
  readonly stdout: { write(text: string): unknown }
}

/** Prints all findings, errors first. Throws `StartRefused` with the daemon's message. */
export async function findings(config: Config, args: DaemonChoice & FindingsArguments, { env, stdout }: Surroundings): Promise<ExitCode> {
  const { project, areOver, asJson } = args
  const access = await chosenDaemon(config, args, env)
  const data: Row[] = []
  let cursor: string | null = ''
  do {
    const query = new URLSearchParams({
      ...{ limit: '200', state: areOver ? 'over' : 'open' },
      ...(project !== undefined && { project }),
      ...(cursor && { cursor }),
    })
    const page = pageIn<Row>(access, await getFromDaemon(access, `/v1/findings?${query.toString()}`))
    data.push(...page.data)
    cursor = page.next_cursor
  } while (cursor !== null)
  if (asJson) stdout.write(`${cleanJson(JSON.stringify({ data }))}\n`)
  else
    stdout.write(
      data.length === 0 ? `${areOver ? 'No findings ended in the last 30 days.' : 'No open findings.'}\n` : data.map(lines).join(''),
    )
  return exitCodes.ok
}

/** Two lines: severity, times, title and kind; then summary and remedy. */
function lines({ kind, severity, title, summary, fix, opened_at: from, over_at: to }: Row): string {
  const times = to === null ? `since ${minuteOf(from)}` : `${minuteOf(from)} to ${minuteOf(to)}`
  const text = [summary, fix].filter((part) => part !== '').join(' ')
  return `${cleanText(`${severity.padEnd(width)} ${title} (${kind}), ${times}`)}\n${text === '' ? '' : `${' '.repeat(width + 1)}${cleanText(text)}\n`}`
}

/** Width of the longest severity. */
const width = 7
const minuteOf = (time: string): string => time.slice(0, 16).replace('T', ' ')
