/** `postern promote`: promotes a destination to live through the REST API. */
import type { Config } from '#config/settings/load.ts'
import { cleanJson, cleanText } from '../../observability/clean-text.ts'
import type { DaemonChoice } from '../command-line.ts'
import type { PromoteArguments } from './promote-arguments.ts'
import { chosenDaemon, postToDaemon } from '../daemon-client.ts'
import { exitCodes, type ExitCode } from '../../process/lifecycle.ts'

interface Surroundings {
  readonly env: NodeJS.ProcessEnv
  readonly stdout: { write(text: string): unknown }
  readonly stderr: { write(text: string): unknown }
}

interface Answer {
  readonly name: string
  readonly route: { readonly by: string; readonly rule_id: string | null }
  readonly warnings: readonly { readonly message: string }[]
}

/** Prints the route, and warnings to the standard error. Throws `StartRefused` with the daemon's message. */
export async function promote(
  config: Config,
  args: DaemonChoice & PromoteArguments,
  { env, stdout, stderr }: Surroundings,
): Promise<ExitCode> {
  const { destination, defaultRoute, project, asJson } = args
  const access = await chosenDaemon(config, args, env)
  const answer = (await postToDaemon(access, `/v1/destinations/${encodeURIComponent(destination)}/promote-to-live`, {
    ...(defaultRoute && { default_route: true }),
    ...(project !== undefined && { project_id: project }),
  })) as Answer
  if (asJson) {
    stdout.write(`${cleanJson(JSON.stringify(answer))}\n`)
    return exitCodes.ok
  }
  stdout.write(`${cleanText(answer.name)} is live.${routeSentence(answer.route)}\n`)
  for (const { message } of answer.warnings) stderr.write(`Warning: ${cleanText(message.replace(ofRequest, ofCommand))}\n`)
  return exitCodes.ok
}

/** Text of the API about the next step, and the text that replaces it in the output of this command. */
const ofRequest = 'Repeat the request with default_route true'
const ofCommand = 'Repeat the command with --default-route'

function routeSentence({ by, rule_id: rule }: Answer['route']): string {
  if (by === 'rule') return ` Routing rule ${cleanText(rule ?? '')} routes mail to it.`
  if (by === 'project') return ' The environment of the project routes mail to it.'
  return by === 'org_default' ? ' It is the default sender of the organization.' : ''
}
