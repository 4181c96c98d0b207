/** `postern setup`: a guided first installation for a domain. Asks only for unknown values and keeps correct settings. */
import { open, stat } from 'node:fs/promises'
import { networkInterfaces } from 'node:os'
import type { Readable } from 'node:stream'
import { formatEndpoint } from '#config/settings/formats.ts'
import type { Config } from '#config/settings/load.ts'
import { isAlarming, inWords } from '#core/doctor/report.ts'
import { SystemResolver, systemLookUp } from '#core/outbound/resolver.ts'
import { isPublic } from '#ingest/dns/host-addresses.ts'
import { acmeNames } from '../../certificates/acme/names.ts'
import { examineAddresses } from '../../doctor/address-check.ts'
import { examineMachine } from '../../doctor/machine.ts'
import { cleanText } from '../../observability/clean-text.ts'
import { exitCodes, type ExitCode } from '../../process/lifecycle.ts'
import { StartRefused } from '../../process/start-refused.ts'
import { answersTo, Questions, type Answers, type SetupArguments } from './answers.ts'
import {
  changed,
  changesFor,
  configFile,
  configWith,
  contentOf,
  diffOf,
  isWritten,
  startWith,
  variablesAgainst,
  writeConfigFile,
  type Start,
} from './config-file.ts'
import { firstMail, registeredDomain, useDaemon, type FirstMail } from './first-mail.ts'
import { outgoingProblem, usualOutgoing } from './outgoing.ts'
import { reverseSentence, zoneFile } from './zone-file.ts'

export interface SetupIo {
  readonly stdin: Readable
  readonly stdout: { write(text: string): unknown }
  readonly env: NodeJS.ProcessEnv
  readonly version: string
}

/** Runs all steps. Returns 1 if a check found a problem that keeps mail from working. */
export async function setup(args: SetupArguments, { stdin, stdout, env, version }: SetupIo): Promise<ExitCode> {
  const say = (text: string): void => void stdout.write(`${text}\n`)
  await requireRoomForZone(args)
  using questions = new Questions(stdin, stdout, args.yes)
  const path = configFile(args.config, env)
  const content = contentOf(path, env)
  const answers = await answersTo(args, configWith(path, content, env), questions)
  const config = await configured(path, content, { answers, questions, env, say })
  if (!config) return exitCodes.failed
  const addresses = publicAddresses(config)
  say('\nChecks:')
  const overruled = variablesAgainst(changesFor(answers, contentOf(path, env) ?? {}, config))
  const isWell = await checked(config, { outgoing: args.outgoing.length === 0 ? usualOutgoing : args.outgoing, overruled }, say)

  // opened before the process becomes the data owner, who may not write there
  await using zoneTo = args.zone === undefined ? undefined : await open(args.zone, 'w', 0o644)
  await using daemon = await useDaemon(config, version)
  const { status, records } = await registeredDomain(daemon.called, answers.domain)
  const zone = zoneFile({ ...answers, addresses, records, bounceDomain: config.inboundDomain })
  say(`\nDNS records of ${answers.domain} (${status === 'verified' ? 'verified' : 'not verified yet'}):\n\n${zone}`)
  say(reverseSentence(addresses, answers.host))
  await zoneTo?.writeFile(zone)
  if (zoneTo) say(`The records are in ${args.zone}.`)
  say(`\n${mailSentence(await firstMail(daemon.called, answers.domain, answers.email))}`)
  say(nextSteps(answers, config, daemon.wasRunning, startWith(path, env)))
  return isWell ? exitCodes.ok : exitCodes.failed
}

/** Throws `StartRefused` if the zone file exists. Accepts an empty file, which an interrupted setup may have left. */
async function requireRoomForZone({ zone, force }: SetupArguments): Promise<void> {
  if (zone === undefined || force) return
  const { size = 0 } = (await stat(zone).catch(() => undefined)) ?? {}
  if (size > 0) throw new StartRefused(`${zone} already exists. Use another name for --zone, or --force to replace it.`, exitCodes.failed)
}

interface Writing {
  readonly answers: Answers
  readonly questions: Questions
  readonly env: NodeJS.ProcessEnv
  readonly say: (text: string) => void
}

/** Returns the configuration after the setup; undefined if the user declined the changes. */
async function configured(
  path: string,
  content: Record<string, unknown> | undefined,
  { answers, questions, env, say }: Writing,
): Promise<Config | undefined> {
  const before = content ?? {}
  const changes = changesFor(answers, before, configWith(path, before, env)).filter((one) => !isWritten(one))
  const after = changed(before, changes)
  const config = configWith(path, after, env)
  if (content !== undefined && changes.length === 0) {
    say(`\n${path} is up to date. Nothing was changed.`)
    return config
  }
  say(`\n${content === undefined ? 'New file' : 'Changes to'} ${path}:\n\n${diffOf(changes)}`)
  const isWanted = await questions.ask('--yes', 'Write the file? yes or no', 'yes', (text) =>
    /^y(?:es)?$/i.test(text) ? true : /^no?$/i.test(text) ? false : undefined,
  )
  if (!isWanted) {
    say('Nothing was written.')
    return undefined
  }
  await writeConfigFile(path, after)
  say(`${path} was written.`)
  return config
}

interface Beside {
  /** Servers of the connection test. */
  readonly outgoing: readonly string[]
  /** Variables that override the file with other values. */
  readonly overruled: readonly string[]
}

/** Prints the result of each check. Returns false if one failed. */
async function checked(config: Config, { outgoing, overruled }: Beside, say: (text: string) => void): Promise<boolean> {
  const resolver = new SystemResolver({ servers: config.outbound.dnsServers })
  const machine = await examineMachine(config)
  const { found } = await examineAddresses({ config, lookUp: systemLookUp(config.outbound.dnsServers) })
  const tried = await Promise.all(
    outgoing.filter((one) => one !== 'none').map(async (target) => ({ target, problem: await outgoingProblem(target, resolver) })),
  )
  const lines = [
    ...overruled.map((variable) => ({
      ok: false,
      text: `${variable}: the variable overrides the file with another value. Remove the variable.`,
    })),
    ...machine.map(({ check, ok, summary, findings }) => {
      const refused = findings.find(({ id }) => id === 'certificate.self_signed') // a notice in doctor, for closed networks
      return { ok: ok && !refused, text: `${check}: ${refused ? `${refused.summary} ${refused.fix}` : summary}` }
    }),
    ...found.map((one) => inWords(one)).map((one) => ({ ok: !isAlarming(one), text: `${one.id}: ${one.summary} ${one.fix}` })),
    ...tried.map(({ target, problem }) => ({
      ok: problem === undefined,
      text: `outgoing ${target}: ${problem ?? 'the server responds.'}`,
    })),
  ]
  for (const { ok, text } of lines) say(`${ok ? 'ok  ' : 'BAD '} ${cleanText(text)}`)
  return lines.every(({ ok }) => ok)
}

/** Configured addresses, or the public addresses of the network interfaces. */
function publicAddresses({ doctor }: Config): readonly string[] {
  if (doctor.addresses.length > 0) return doctor.addresses
  const all = Object.values(networkInterfaces()).flatMap((addresses) => addresses ?? [])
  return [...new Set(all.map(({ address }) => address))].filter(isPublic)
}

function mailSentence(mail: FirstMail): string {
  if ('wouldBe' in mail) return `Mail of this domain is already delivered (${mail.wouldBe}), so no test mail was sent.`
  const { traceId, outcome, isNew } = mail
  return isNew
    ? `The first mail was captured (${outcome}). See it in the dashboard under Captures. Trace: ${traceId}`
    : `The first mail was captured earlier. Trace: ${traceId}`
}

function nextSteps(answers: Answers, config: Config, wasRunning: boolean, { how, notes }: Start): string {
  const { domain, url } = answers
  return [
    '\nNext:',
    wasRunning
      ? `- If the settings changed, restart the daemon: ${how('restart')}.`
      : `- Start the daemon: ${how('start')}. It prints the link that makes you the owner.`,
    ...notes,
    ...certificateSteps(answers, config),
    `- Publish the records. Then run postern setup --domain ${domain} again, or postern doctor, to check them.`,
    `- Connect your provider as a destination in the dashboard${url === null ? '' : ` at ${url}`}. Then promote it to live with a route for your mail.`,
    '- Run postern backup every day.',
  ].join('\n')
}

/** Steps for other systems before the certificate can be ordered and the address works. */
function certificateSteps({ certificate, url }: Answers, config: Config): string[] {
  if (config.acme.challenge !== 'off') {
    const port = config.acme.challenge === 'http-01' ? 80 : 443
    return [
      `- Make port ${port} of ${acmeNames(config).join(' and ')} reach this machine. The daemon orders the certificate when it starts.`,
    ]
  }
  if (certificate?.from !== 'proxy' || url === null) return []
  const to = `http://${formatEndpoint(config.http.listen)}`
  return [
    `- Make the reverse proxy forward ${url} to ${to}, with an unchanged Host field and the address of the client in X-Forwarded-For.`,
  ]
}
