/** `postern send`: sends one message through the REST API of a running daemon. */
import { text as textOf } from 'node:stream/consumers'
import type { Config } from '#config/settings/load.ts'
import { cleanJson, cleanText } from '../observability/clean-text.ts'
import type { SendArguments } from './command-line.ts'
import { chosenDaemon, postToDaemon } from './daemon-client.ts'
import { exitCodes, type ExitCode } from '../process/lifecycle.ts'

interface Surroundings {
  readonly env: NodeJS.ProcessEnv
  readonly stdin: NodeJS.ReadableStream & { readonly isTTY?: boolean }
  readonly stdout: { write(text: string): unknown }
  readonly stderr: { write(text: string): unknown }
}

interface Answer {
  readonly trace_id: string
  readonly outcome: string
  readonly warnings?: readonly { readonly message: string }[]
}

/** Prints outcome and trace, and warnings to the standard error. Throws `StartRefused` with the daemon's message. */
export async function send(config: Config, args: SendArguments, { env, stdin, stdout, stderr }: Surroundings): Promise<ExitCode> {
  const { from, to, subject, html, asJson } = args
  const access = await chosenDaemon(config, args, env)
  if (args.text === '-' && stdin.isTTY === true) stderr.write('Type the text. Press Ctrl-D to end it.\n')
  const text = args.text === '-' ? await textOf(stdin) : args.text
  const body = { from, to, subject, ...(text !== '' && { text }), ...(html !== undefined && { html }) }
  const answer = (await postToDaemon(access, '/v1/messages', body)) as Answer
  stdout.write(asJson ? `${cleanJson(JSON.stringify(answer))}\n` : `${answer.outcome}\ntrace ${answer.trace_id}\n`)
  if (!asJson) for (const { message } of answer.warnings ?? []) stderr.write(`Warning: ${cleanText(message)}\n`)
  return exitCodes.ok
}
