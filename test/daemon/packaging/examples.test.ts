/** Examples for several daemons: their settings are valid, and their ports have listeners. The formatter checks the YAML. */
import { readFileSync } from 'node:fs'
import test from '#test'
import { loadConfig, type Config } from '#config/settings/load.ts'

const read = (name: string): string => readFileSync(new URL(`../../../daemon/packaging/${name}`, import.meta.url), 'utf8')
const containerfile = read('container/Containerfile')
const compose = read('container/compose-several.yaml')
const balancer = read('container/haproxy.cfg')
const kubernetes = read('kubernetes/postern.yaml')

/** Variables of the image, and variables that the user must set. */
const image = Object.fromEntries([...containerfile.matchAll(/(POSTERN_\w+)=(\S+)/g)].map(([, name, value]) => [name, value]))
const given = {
  POSTERN_STORE: 'postgresql://postern:secret@database/postern',
  POSTERN_MASTER_KEY: Buffer.alloc(32, 7).toString('base64'),
  POSTERN_ADMIN_KEY: `svckey_${'a'.repeat(43)}`,
}

/** Throws if a setting does not exist or is invalid. */
const configOf = (env: Readonly<Record<string, string>>): Config => loadConfig({ env: { ...image, ...given, ...env }, readFile: () => '' })
/** Alternative to 587 for networks that block it; the examples do not use it. */
const secondSubmission = 2525
const portsOf = ({ http, submission, mx }: Config): readonly number[] =>
  [http.listen, ...submission.listen, ...submission.implicitTlsListen, ...mx.listen]
    .map(({ port }) => port)
    .filter((port) => port !== secondSubmission)
const numbers = (text: string, pattern: RegExp): readonly number[] => [...text.matchAll(pattern)].map(([, port]) => Number(port))
const valuesIn = (text: string, pattern: RegExp): Record<string, string> =>
  Object.fromEntries([...text.matchAll(pattern)].map(([, name = '', value = '']) => [name, value]))

test('Kubernetes manifest: valid settings, and a listener on each port', (t) => {
  const config = configOf(valuesIn(kubernetes, /\{ name: (POSTERN_\w+), value: '?([^' }]+)'? \}/g))
  t.is(config.drainSeconds, 5)
  t.deepEqual(numbers(kubernetes, /containerPort: (\d+)/g), portsOf(config))
  const named = new Set([...kubernetes.matchAll(/name: (\w+), containerPort/g)].map(([, name]) => name))
  for (const [, name] of kubernetes.matchAll(/(?:targetPort|port): ([a-z]+)/g)) t.true(named.has(name), name)
  const asked = [...kubernetes.matchAll(/--from-literal=(POSTERN_\w+)/g)].map(([, name]) => String(name))
  t.deepEqual(asked.toSorted(), Object.keys(given).toSorted(), 'the secret has the required settings')
})

test('compose file: valid settings, and a listener for each port of the balancer', (t) => {
  const settings = valuesIn(compose, /^ {4}(POSTERN_\w+): (.+)$/gm)
  const filled = Object.entries(settings).map(([name, value]) => [name, value.replaceAll(/\$\{\w+:-([^}]*)\}/g, '$1')] as const)
  const own = Object.fromEntries(filled.filter(([, value]) => !value.includes('${')))
  const config = configOf(own)
  t.deepEqual(
    Object.keys(settings)
      .filter((name) => !(name in own))
      .toSorted(),
    Object.keys(given).toSorted(),
  )
  const bound = numbers(balancer, /^ {2}bind :(\d+)$/gm)
  t.deepEqual(bound, portsOf(config))
  for (const name of ['one', 'two', 'three']) {
    t.regex(compose, new RegExp(`^ {2}${name}: \\{ <<: \\*postern`, 'm'))
    t.deepEqual(numbers(balancer, new RegExp(`^ {2}server ${name} ${name}:(\\d+)$`, 'gm')), bound)
  }
  t.deepEqual(numbers(compose, /'(?:127\.0\.0\.1:)?\d+:(\d+)'/g), [8080, 587, 465, 25])
  t.deepEqual(bound, [8080, 587, 465, 25])
  const [, balancerAddress = ''] = /ipv4_address: ([\d.]+)/.exec(compose) ?? []
  t.is(settings['POSTERN_TRUST_PROXY'], balancerAddress)
})
