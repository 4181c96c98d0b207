/** Orders of certificates: several at the same time in one process, and with a damaged account key. */
import { once } from 'node:events'
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import test, { type ExecutionContext } from '#test'
import { Challenges } from '../../../daemon/certificates/acme/challenges.ts'
import { orderCertificate, OrderFailed } from '../../../daemon/certificates/acme/order.ts'
import { OrderFiles } from '../../../daemon/certificates/acme/ordered-files.ts'
import { temporaryFolder } from '../../support/daemon/workspace.ts'
import { makeCertificates } from '../../support/web/certificates.ts'
import { damagedKey } from './damaged-key.ts'

/** A certificate authority that records its callers and refuses every request once `isDue` resolves. */
async function authority(t: ExecutionContext, folder: string, isDue: Promise<unknown>) {
  const { ca, cert, key } = await makeCertificates(folder)
  const callers: (string | undefined)[] = []
  const server = createServer({ cert: await readFile(cert), key: await readFile(key) }, (request, response) => {
    callers.push(request.headers['user-agent'])
    void isDue.then(() => {
      response.writeHead(403, { 'content-type': 'application/problem+json' })
      response.end(JSON.stringify({ type: 'urn:ietf:params:acme:error:unauthorized', detail: 'No.' }))
    })
  })
  t.teardown(() => new Promise<unknown>((resolve) => server.close(resolve).closeAllConnections()))
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const trusted = await readFile(ca, 'utf8')
  const order = (userAgent: string) =>
    orderCertificate({
      ...{ records: new OrderFiles(folder), challenges: new Challenges(), names: ['mail.example.org'], challenge: 'http-01' },
      ...{ email: null, external: undefined, userAgent, signal: AbortSignal.any([]), pollMs: 1 },
      directory: `https://localhost:${(server.address() as AddressInfo).port}/dir`,
      trusted,
    })
  return { callers, order }
}

test('orderCertificate(): simultaneous orders use their own transports', async (t) => {
  await using one = await temporaryFolder('order')
  await using other = await temporaryFolder('order')
  const isDue = Promise.withResolvers<void>()
  const [a, b] = [await authority(t, one.path, Promise.resolve()), await authority(t, other.path, isDue.promise)]
  const later = t.throwsAsync(b.order('Postern b'), { instanceOf: OrderFailed })
  await t.throwsAsync(a.order('Postern a'), { instanceOf: OrderFailed })
  isDue.resolve()
  await later
  t.deepEqual([...new Set(a.callers)], ['Postern a'])
  t.deepEqual([...new Set(b.callers)], ['Postern b'])
})

test('orderCertificate(): a damaged account key is replaced by a new account', async (t) => {
  await using folder = await temporaryFolder('order')
  const { order } = await authority(t, folder.path, Promise.resolve())
  await t.throwsAsync(order('Postern'), { instanceOf: OrderFailed })
  const kept = join(folder.path, 'tls', 'acme')
  const [name = ''] = (await readdir(kept)).filter((file) => file.startsWith('account-'))
  const account = JSON.parse(await readFile(join(kept, name), 'utf8')) as { readonly directory: string; readonly key: string }
  const changed = { ...account, key: damagedKey(account.key), url: 'https://localhost/account/1' }
  await writeFile(join(kept, name), JSON.stringify(changed))
  const next = await new OrderFiles(folder.path).account(account.directory)
  t.not(next.key, changed.key)
  t.is(next.url, null)
  t.deepEqual(await new OrderFiles(folder.path).account(account.directory), next)
})
