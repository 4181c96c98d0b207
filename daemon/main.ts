/** Command line: parses the arguments and returns an exit code. */
import { accessSync, constants, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { madeOf, ownFile } from '#config/own-files.ts'
import { ConfigInvalid, loadConfig, type Config } from '#config/settings/load.ts'
import { printConfig } from '#config/settings/print.ts'
import { StoreUnavailable } from '#store/kv.ts'
import { helpOf } from './commands/command-help.ts'
import { parseCommandLine, type Command } from './commands/command-line.ts'
import { becomeUser } from './process/become-user.ts'
import { becomeOwnerOf, prepareDataFolder } from './process/data-folder.ts'
import { exitCodes, type ExitCode } from './process/lifecycle.ts'
import { StartRefused } from './process/start-refused.ts'
import { useCompiled } from './process/use-compiled.js'

const [, program = '', ...given] = process.argv
/** Maximum time that an open resource of a command, such as a silent connection, keeps the process alive. */
const leftOpenMs = 3000

// a link with that name can replace /usr/sbin/sendmail
const command = parseCommandLine(basename(program) === 'sendmail' ? ['sendmail', ...given] : given)
if (command.name !== 'serve') process.stdout.on('error', (error) => endWithOutput(error, command))
process.stderr.on('error', () => {}) // a failing error output must not decide the exit code
process.exitCode = await run(command).catch((error: unknown) => explain(error, command))
setTimeout(() => process.exit(), leftOpenMs).unref()

async function run(wanted: Command): Promise<number> {
  switch (wanted.name) {
    case 'help':
      return say(wanted.text)
    case 'version':
      return say(`${version()}${commit()}\n`)
    case 'usage':
      process.stderr.write(`${wanted.message}\n`)
      return exitCodes.usage
    case 'config':
      return say(printConfig(configuration()))
    case 'licenses':
      return say(await (await import('./commands/licenses-command.ts')).licences(wanted.asBill))
    case 'doctor':
      return (await import('./commands/doctor.ts')).doctor(configuration(), wanted.asJson, process.stdout)
    case 'setup':
      return (await import('./commands/setup/setup-command.ts')).setup(wanted.args, {
        stdin: process.stdin,
        stdout: process.stdout,
        env: { ...packagedConfig(), ...process.env },
        version: version(),
      })
    case 'operator':
      return (await import('./commands/operator/operator-command.ts')).operate(configuration(), wanted.request, process.stdout)
    case 'verify':
      if (wanted.file === undefined)
        return (await import('./commands/verify-command.ts')).verifyStore(asOwner(configuration()), wanted.acceptsLosses, process.stdout)
      return (await import('./commands/backup/backup-command.ts')).verifyBackup(wanted.file, wanted.passphraseFile, process)
    case 'backup':
      return (await import('./commands/backup/backup-command.ts')).backup(configuration(), wanted.args, process)
    case 'migrate':
      return (await import('./commands/migrate-command.ts')).migrate(wanted.args, configuration().store, process.stdout)
    case 'restore':
      return (await import('./commands/backup/restore-command.ts')).restore(wanted.args, process)
    case 'login-link':
      return (await import('./commands/login-link-command.ts')).loginLink(asOwner(configuration()), wanted, process.stdout)
    case 'send':
      return (await import('./commands/send-command.ts')).send(configuration(), wanted.args, process)
    case 'sendmail':
      return (await import('./commands/sendmail/sendmail-command.ts')).sendmail(configuration, wanted.args, process)
    case 'tail':
      return (await import('./commands/tail-command.ts')).tail(configuration(), {
        asJson: wanted.asJson,
        out: process.stdout,
        hints: process.stderr,
      })
    case 'logs':
      return (await import('./commands/logs/logs-command.ts')).logs(configuration, wanted.args, process)
    case 'capture':
      return (await import('./commands/capture/capture-command.ts')).capture(wanted.args, {
        ...{ stdout: process.stdout, stderr: process.stderr, version: version() },
      })
    case 'key create':
      return (await import('./commands/key-command.ts')).createKey(configuration(), wanted.args, process)
    case 'promote':
      return (await import('./commands/promote/promote-command.ts')).promote(configuration(), wanted.args, process)
    case 'queue':
      return (await import('./commands/queue/queue-command.ts')).queue(configuration(), wanted.args, process)
    case 'findings':
      return (await import('./commands/findings/findings-command.ts')).findings(configuration(), wanted.args, process)
    case 'deploy':
      return (await import('./commands/deploy/deploy-command.ts')).deploy(configuration(), wanted.args, process)
    case 'import':
      return (await import('./commands/import-command.ts')).importFile(configuration(), wanted.args, process)
    case 'serve':
      return serve(configuration(), wanted.readyFile)
  }
}

/**
 * Compiled code is kept for the next start, which then takes half the time. It is in the data folder, because code in a shared temporary
 * folder could be changed by other users.
 */
async function serve(config: Config, readyFile: string | undefined): Promise<ExitCode> {
  const mine = await becomeUser(config)
  await prepareDataFolder(mine.dataDir)
  useCompiled(mine.dataDir)
  return (await import('./serve.ts')).serve(mine, { readyFile, version: version() })
}

/** Prints expected errors in one sentence, without a stack. */
function explain(error: unknown, { name }: Command): ExitCode {
  if (error instanceof ConfigInvalid) {
    process.stderr.write(`${error.message}\n`)
    return exitCodes.configuration
  }
  if (error instanceof StartRefused) {
    const help = error.exitCode === exitCodes.usage ? ` ${helpOf(name)}` : ''
    process.stderr.write(`${error.message}${help}\n`)
    return error.exitCode
  }
  if (error instanceof StoreUnavailable) {
    process.stderr.write(`${error.message}\n`)
    return exitCodes.failed
  }
  if (error instanceof Error && 'path' in error && 'syscall' in error) {
    process.stderr.write(`${fileProblem(error as NodeJS.ErrnoException)}\n`)
    return exitCodes.failed
  }
  process.stderr.write(`${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`)
  return exitCodes.failed
}

/** Describes an error of the file system. */
function fileProblem({ code = '', path = '', message }: NodeJS.ErrnoException): string {
  const why: Readonly<Record<string, string>> = {
    ENOENT: 'does not exist; check the path.',
    EACCES: 'may not be used by this user; check its permissions.',
    EPERM: 'may not be used by this user; check its permissions.',
    EISDIR: 'is a folder; name a file.',
    ENOTDIR: 'has a parent that is not a folder; check the path.',
    ENOSPC: 'cannot be written, as the disk is full.',
    EROFS: 'cannot be written, as its file system is read-only.',
  }
  return why[code] === undefined ? `${path} cannot be used: ${message}.` : `${path} ${why[code]}`
}

/**
 * Ends the command like SIGPIPE if the reader closes the output, as `head` does. The work may be incomplete, for example a migration. Any
 * other failure loses output.
 */
function endWithOutput(error: Error, ended: Command): void {
  const isClosed = 'code' in error && error.code === 'EPIPE'
  if (isClosed && ended.name !== 'backup') process.exit(exitCodes.unread)
  process.stderr.write(
    isClosed
      ? 'The backup is not whole: the program that reads it has ended.\n'
      : `The output could not be written: ${error.message}. Make room for it, or send it elsewhere.\n`,
  )
  process.exit(exitCodes.failed)
}

function configuration(): Config {
  return loadConfig({ env: { ...packagedConfig(), ...process.env }, readFile: (path) => readFileSync(path, 'utf8') })
}

/** Returns the configuration file of the installed package, if this user may read it. */
function packagedConfig(): { readonly POSTERN_CONFIG?: string } {
  if (!madeOf()) return {}
  const path = '/etc/postern/postern.json'
  try {
    accessSync(path, constants.R_OK)
    return { POSTERN_CONFIG: path }
  } catch {
    return {}
  }
}

/** Becomes the owner of the data folder, for commands that open the store themselves. */
function asOwner(config: Config): Config {
  becomeOwnerOf(config.dataDir)
  return config
}

function version(): string {
  const path = join(import.meta.dirname, '../package.json')
  return (JSON.parse(ownFile(path).toString('utf8')) as { version: string }).version
}

/** Returns the commit of a package. For sources, the repository has it. */
function commit(): string {
  const made = madeOf()
  return made ? ` (commit ${made.commit})` : ''
}

function say(text: string): ExitCode {
  process.stdout.write(text)
  return exitCodes.ok
}
