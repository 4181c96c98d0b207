/** Website archives when the daemon is killed during the upload: visitors get one complete deployment. */
import { request } from 'node:http'
import { setTimeout as pause } from 'node:timers/promises'
import test from '#test'
import { asking, siteSettings } from '../../admin-api/sites/site-client.ts'
import { Daemon } from '../../support/daemon/daemon.ts'
import { livesOf } from '../../support/daemon/daemon-lives.ts'
import { Seeded, seedOf } from '../../support/seeded.ts'
import { zipOfFiles } from '../../support/web/zip-file.ts'
import { assertVerified } from '../../support/problems.ts'

const lives = 3
const files = 60
const host = 'alpenblick.sites.test'

/** A website of many files that contain their version. Most files are new in every version. */
const version = (n: number, random = new Seeded(n)): Buffer =>
  zipOfFiles({
    ...Object.fromEntries(
      Array.from({ length: files }, (_, i) => [`page-${i}.html`, `<p>version ${n}</p>${random.bytes(3000).toString('base64')}`]),
    ),
    'index.html': `version ${n}`,
    'same.txt': 'the same in all',
  })

/** Resolves with the id of the acknowledged deployment; undefined if the connection ends earlier. */
function deploy({ addresses, adminKey }: Daemon, site: string, archive: Buffer): Promise<string | undefined> {
  return new Promise((resolve) => {
    const sent = request(`http://${addresses.http}/v1/sites/${site}/deploys?activate=true`, {
      method: 'POST',
      headers: { authorization: `Bearer ${adminKey}`, 'content-type': 'application/zip', 'content-length': archive.length },
    })
    sent.on('error', () => resolve(undefined))
    sent.on('response', (answer) => {
      let text = ''
      answer.on('data', (chunk: Buffer) => (text += chunk.toString())).on('error', () => resolve(undefined))
      answer.on('end', () => resolve(answer.statusCode === 201 ? (JSON.parse(text) as { id: string }).id : undefined))
    })
    sent.end(archive)
  })
}

test('archive deploy: complete or absent after a kill at any moment', async (t) => {
  const seed = seedOf(1)
  t.log(`seed ${seed}`)
  const random = new Seeded(seed)
  const place = await livesOf(t, 'websites', { ...siteSettings, POSTERN_STORE_BALLAST_BYTES: '0' })
  let daemon = await place.start()
  const site = String((await daemon.rest.must('POST', '/v1/sites', { slug: 'alpenblick' }))['id'])
  const acknowledged = [await deploy(daemon, site, version(0))]
  let [served, cut] = [0, 0]
  for (let n = 1; n <= lives; n++) {
    const sending = deploy(daemon, site, version(n))
    const outcome = await Promise.race([sending.then(() => 'answered'), pause(random.between(20, 300)).then(() => 'killed')])
    await daemon.kill()
    const id = await sending
    if (outcome === 'killed' && id === undefined) cut++
    daemon = await place.start()
    const ask = asking(t, String(daemon.addresses.sites[0]))
    const now = Number(/\d+/.exec((await ask(host, '/')).text)?.[0])
    t.true(now === n || (now === served && id === undefined), `ledger: ${now} after ${n}, with the response ${String(id)}`)
    for (const i of [0, 1, files - 1]) t.true((await ask(host, `/page-${i}`)).text.startsWith(`<p>version ${now}</p>`), `page ${i}`)
    served = now
    const shown = (await daemon.rest.must('GET', `/v1/sites/${site}/deploys?limit=50`))['data'] as { id: string; status: string }[]
    if (id !== undefined) acknowledged.push(id)
    t.true(
      shown.every(({ status }) => status === 'ready'),
      'no half deploy',
    )
    for (const one of acknowledged)
      t.true(
        shown.some((deployed) => deployed.id === one),
        'ledger: an acknowledged deploy is lost',
      )
  }
  t.log(`${cut} of ${lives} archives were cut off`)
  t.truthy(await deploy(daemon, site, version(99)), 'the next one is accepted')
  const { stored_bytes } = await daemon.rest.must('GET', `/v1/sites/${site}/usage`)
  const shown = (await daemon.rest.must('GET', `/v1/sites/${site}/deploys?limit=50`))['data'] as { bytes: number }[]
  const sameOnce = (shown.length - 1) * Buffer.byteLength('the same in all')
  t.is(stored_bytes, shown.reduce((sum, { bytes }) => sum + bytes, 0) - sameOnce, 'the billed version is the shown one')
  await daemon.stop()
  assertVerified(t, await place.verify())
})
