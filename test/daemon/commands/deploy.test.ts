/** A website deployed by the command line, changed and rolled back under load, and a daemon killed during a deployment. */
import { createHash } from 'node:crypto'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import test from '#test'
import { asking, domain, siteSettings } from '../../admin-api/sites/site-client.ts'
import { Daemon, runCommand } from '../../support/daemon/daemon.ts'
import { temporaryFolder } from '../../support/daemon/workspace.ts'
import { assertVerified } from '../../support/problems.ts'

const pages = 180
const assets = 20

/** Writes pages that contain the number of their edition. */
async function writeSite(folder: string, edition: number, changedPages = pages): Promise<void> {
  await mkdir(join(folder, 'assets'), { recursive: true })
  const links = Array.from({ length: 20 }, (_, i) => `<a href="/page-${i + 1}">${i}</a>`).join('')
  for (let i = 0; i < changedPages; i++) {
    const name = i === 0 ? 'index.html' : `page-${i}.html`
    await writeFile(
      join(folder, name),
      `<!doctype html><title>${i}</title><p>edition ${edition}, page ${i}</p>${links}${'text '.repeat(300)}\n`,
    )
  }
  if (edition > 1) return
  for (let i = 0; i < assets; i++) await writeFile(join(folder, 'assets', `image-${i}.png`), Buffer.alloc(20_000 + i, i))
  await writeFile(join(folder, '.env'), 'SECRET=1')
}

const addressOf = (i: number): string => (i === 0 ? '/' : `/page-${i}`)

test('deploy: 200 files deployed, changed and rolled back under load, byte for byte', async (t) => {
  await using folder = await temporaryFolder('deploy')
  const site = join(folder.path, 'site')
  await writeSite(site, 1)
  const options = { folder: folder.path, env: siteSettings }
  await using daemon = await Daemon.start(options)
  const deploy = (...args: readonly string[]) => runCommand(options, 'deploy', site, '--site', 'gipfel', ...args)
  const first = await deploy()
  t.is(first.code, 0, first.output)
  t.regex(
    first.output,
    /^200 files, 200 new\.\nsent 50 of 200\nsent 100 of 200\nsent 150 of 200\nsent 200 of 200\nhttp:\/\/gipfel\.sites\.test:\d+\n$/,
  )
  await writeSite(site, 2, 30)
  const second = await deploy('--json')
  t.regex(second.output, /^200 files, 30 new\.\n/)
  const ask = asking(t, daemon.addresses.sites[0] ?? '')
  const host = `gipfel.${domain}`
  t.regex((await ask(host, '/')).text, /edition 2, page 0/)
  t.is((await ask(host, '/.env')).status, 404)

  const { data } = (await daemon.rest.must('GET', '/v1/sites')) as { data: { id: string }[] }
  const path = `/v1/sites/${data[0]?.id ?? ''}/deploys`
  const deploys = (await daemon.rest.must('GET', path))['data'] as { id: string }[]
  let isOver = false
  const seen = new Map<string, number>()
  const reader = async (seed: number): Promise<void> => {
    for (let at = seed; !isOver; at = (at * 31 + 17) % pages) {
      const { status, text } = await ask(host, addressOf(at))
      const [, edition = 'none'] = /^<!doctype html><title>\d+<\/title><p>edition (\d), page \d+<\/p>/.exec(text) ?? []
      const isRight = status === 200 && text.includes(`page ${at}</p>`) && text.endsWith('text \n') && (at < 30 || edition === '1')
      const kind = isRight ? `edition ${edition}` : `${status}: ${text.slice(0, 100)}`
      seen.set(kind, (seen.get(kind) ?? 0) + 1)
    }
  }
  const readers = Array.from({ length: 24 }, (_, seed) => reader(seed))
  for (let round = 0; round < 20; round++) {
    const wanted = deploys[round % 2 === 0 ? 1 : 0]?.id ?? ''
    await daemon.rest.must('POST', `${path}/${wanted}/activate`)
    const [edition, other] = round % 2 === 0 ? ['1', '2'] : ['2', '1']
    const { text } = await ask(host, '/')
    t.true(text.includes(`edition ${edition}`) && !text.includes(`edition ${other}`), 'the activated version is served immediately')
  }
  isOver = true
  await Promise.all(readers)
  t.deepEqual([...seen.keys()].toSorted(), ['edition 1', 'edition 2'])
  t.log([...seen].map(([kind, count]) => `${kind}: ${count}`).join(', '))
})

test('deploy: after a kill the old version is served, and the next deploy succeeds', async (t) => {
  await using folder = await temporaryFolder('deploy-crash')
  const options = { folder: folder.path, env: siteSettings }
  let daemon = await Daemon.start(options)
  t.teardown(() => daemon.kill())
  const { id } = await daemon.rest.must('POST', '/v1/sites', { slug: 'gipfel' })
  const path = `/v1/sites/${String(id)}/deploys`
  const octets = { 'content-type': 'application/octet-stream' }
  const edition = (n: number): Buffer[] => Array.from({ length: 12 }, (_, i) => Buffer.alloc(300_000, `edition ${n} file ${i} `))
  const sha256 = (file: Buffer): string => createHash('sha256').update(file).digest('hex')
  const begin = async (files: readonly Buffer[]) =>
    (await daemon.rest.must('POST', `${path}?activate=true`, {
      files: files.map((file, i) => ({ path: `${i}.txt`, sha256: sha256(file), size: file.length })),
    })) as { id: string }
  const send = (deploy: string, file: Buffer) => daemon.rest.call('PUT', `${path}/${deploy}/files/${sha256(file)}`, file, octets)
  const served = async (n: number): Promise<void> => {
    const ask = asking(t, daemon.addresses.sites[0] ?? '')
    for (const [i, file] of edition(n).entries())
      t.true((await ask(`gipfel.${domain}`, `/${i}.txt`)).bytes.equals(file), `edition ${n}, file ${i}`)
  }
  const whole = await begin(edition(1))
  for (const file of edition(1)) await send(whole.id, file)
  for (let life = 0; life < 2; life++) {
    const cut = await begin(edition(2 + life))
    let acknowledged = 0
    const sends = edition(2 + life).map((file) =>
      send(cut.id, file).then(
        () => acknowledged++,
        () => undefined,
      ),
    )
    await Promise.race(sends)
    await daemon.kill()
    await Promise.all(sends)
    daemon = await Daemon.start(options, daemon.adminKey)
    const after = (await daemon.rest.must('GET', `${path}/${cut.id}`)) as { status: string; missing: string[] }
    t.true(after.missing.length <= 12 - acknowledged, 'the acknowledged version is complete')
    await served(after.status === 'ready' ? 2 + life : life === 0 ? 1 : 2)
    for (const file of edition(2 + life)) t.is((await send(cut.id, file)).status, 200)
    await served(2 + life)
  }
  await daemon.stop()
  assertVerified(t, await runCommand(options, 'verify'))
})
