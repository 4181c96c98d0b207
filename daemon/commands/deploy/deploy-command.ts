/** `postern deploy`: deploys a folder as a website through the REST API. Only new files are sent. */
import { createReadStream } from 'node:fs'
import type { Config } from '#config/settings/load.ts'
import { cleanJson, cleanText } from '../../observability/clean-text.ts'
import { exitCodes, type ExitCode } from '../../process/lifecycle.ts'
import type { DeployArguments } from './deploy-arguments.ts'
import { chosenDaemon, getFromDaemon, pageIn, postToDaemon, putToDaemon, type CalledDaemon } from '../daemon-client.ts'
import { StartRefused } from '../../process/start-refused.ts'
import { ProgressLine } from './progress-line.ts'
import { filesOf, type SiteFile } from './site-folder.ts'

interface Surroundings {
  readonly env: NodeJS.ProcessEnv
  readonly stdout: { write(text: string): unknown }
  readonly stderr: { readonly isTTY?: boolean; write(text: string): unknown }
}

interface Site {
  readonly id: string
  readonly slug: string
  readonly url: string
}

interface Deploy {
  readonly id: string
  readonly status: string
  readonly missing: readonly string[]
  readonly preview_url: string
  readonly report: {
    readonly broken_links: { readonly count: number; readonly first: readonly { readonly page: string; readonly link: string }[] }
    readonly missing_alt: { readonly count: number }
    readonly rules: readonly { readonly file: string; readonly line: number; readonly problem: string }[]
  } | null
}

/** Number of parallel uploads. */
const atOnce = 4
const maxShown = 10

/** Prints the address. Throws `StartRefused` with the daemon's message. */
export async function deploy(config: Config, args: DeployArguments, { env, stdout, stderr }: Surroundings): Promise<ExitCode> {
  const daemon = await chosenDaemon(config, args, env)
  const files = await filesOf(args.folder)
  const site = await siteOf(daemon, args.site)
  const path = `/v1/sites/${site.id}/deploys`
  const manifest = { files: files.map(({ path: name, sha256, size }) => ({ path: name, sha256, size })) }
  const begun = (await postToDaemon(daemon, `${path}?activate=${String(!args.isPreview)}`, manifest)) as Deploy
  stderr.write(`${files.length} ${files.length === 1 ? 'file' : 'files'}, ${begun.missing.length} new.\n`)
  await sendFiles(daemon, `${path}/${begun.id}/files/`, missingOf(files, begun.missing), stderr)
  const made = (await getFromDaemon(daemon, `${path}/${begun.id}`)) as Deploy
  if (made.status !== 'ready') throw new StartRefused('Files changed during the upload. Run the command again.', exitCodes.failed)
  const url = args.isPreview ? made.preview_url : site.url
  if (args.asJson) stdout.write(`${cleanJson(JSON.stringify({ ...made, url }))}\n`)
  else stdout.write(`${reported(made)}${url}\n`)
  return exitCodes.ok
}

/** Returns the website with this name or id. Creates it if it does not exist. */
async function siteOf(daemon: CalledDaemon, named: string): Promise<Site> {
  for (let cursor = ''; ;) {
    const page = pageIn<Site>(daemon, await getFromDaemon(daemon, `/v1/sites?limit=100${cursor}`))
    const found = page.data.find(({ id, slug }) => id === named || slug === named)
    if (found) return found
    if (page.next_cursor === null) return (await postToDaemon(daemon, '/v1/sites', { slug: named })) as Site
    cursor = `&cursor=${encodeURIComponent(page.next_cursor)}`
  }
}

function missingOf(files: readonly SiteFile[], missing: readonly string[]): SiteFile[] {
  const byDigest = new Map(files.map((file) => [file.sha256, file]))
  return missing.flatMap((sha256) => byDigest.get(sha256) ?? [])
}

async function sendFiles(daemon: CalledDaemon, path: string, files: readonly SiteFile[], stderr: Surroundings['stderr']): Promise<void> {
  if (files.length === 0) return
  const progress = new ProgressLine(stderr, 'sent', files.length)
  const left = [...files]
  const work = async (): Promise<void> => {
    for (let file = left.shift(); file; file = left.shift()) {
      await putToDaemon(daemon, path + file.sha256, createReadStream(file.place))
      progress.add(1)
    }
  }
  try {
    await Promise.all(Array.from({ length: atOnce }, work))
  } finally {
    progress.end()
  }
}

function reported({ report }: Deploy): string {
  if (!report) return ''
  const { broken_links: links, missing_alt: alt, rules } = report
  const lines = [
    ...links.first.slice(0, maxShown).map(({ page, link }) => `${page}: broken link to ${link}`),
    ...(links.count > maxShown ? [`${links.count - maxShown} more broken links`] : []),
    ...(alt.count > 0 ? [`${alt.count} images have no alt text`] : []),
    ...rules.slice(0, maxShown).map(({ file, line, problem }) => `${file}, line ${line}: ${problem}`),
  ]
  return lines.map((line) => `${cleanText(line)}\n`).join('')
}
