/** Third-party code in the deliverables: allowed licences with their texts, and a complete bill of materials. */
import test from '#test'
import { billOfMaterials, licenceTexts, shippedPackages } from '../../../daemon/packaging/shipped-packages.ts'
import { runCommand } from '../../support/daemon/daemon.ts'
import { temporaryFolder } from '../../support/daemon/workspace.ts'

/** Licences that require only their text and the names of the authors. */
const allowed = new Set([
  '0BSD',
  'Apache-2.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'BlueOak-1.0.0',
  'CC0-1.0',
  'ISC',
  'MIT',
  'MIT-0',
  'PSF-2.0',
  'Python-2.0',
  'Unicode-DFS-2016',
  'Unlicense',
])

/** Of alternative licences, one allowed licence is sufficient. */
const isAllowed = (licence: string): boolean =>
  licence
    .replaceAll(/[()]/g, '')
    .split(' OR ')
    .some((one) => allowed.has(one))

const madeOf = { commit: '0123456789ab', committedAt: '2026-11-28T00:00:00.000Z' }

test('licences: each shipped package has an allowed licence with its text', (t) => {
  const shipped = shippedPackages()
  t.deepEqual(
    shipped.filter(({ licence }) => !isAllowed(licence)).map(({ name, licence }) => `${name}: ${licence}`),
    [],
  )
  const names = shipped.map(({ name }) => name)
  for (const name of ['acme-client', 'axios', 'classic-level', 'jose', 'nodemailer', 'pino', 'smtp-server', 'zod'])
    t.true(names.includes(name), name)
  for (const name of ['ava', 'typescript', 'playwright-core', 'oxlint']) t.false(names.includes(name), name)
  const texts = licenceTexts()
  for (const { name, version } of shipped) t.true(texts.includes(`${name} ${version}\nLicence: `), name)
  t.regex(texts, /Node\.js 24\.[^]*Permission is hereby granted/)
  const bare = texts.split(`\n${'-'.repeat(80)}\n`).filter((part) => part.trim().split('\n').length < 4)
  t.deepEqual(bare, [], 'each has at least its authors')
})

test('bill of materials: lists each package once with its use, reproducibly', (t) => {
  const text = billOfMaterials(madeOf)
  t.is(billOfMaterials(madeOf), text)
  const bill = JSON.parse(text) as {
    readonly serialNumber: string
    readonly components: readonly { readonly 'bom-ref': string; readonly hashes?: readonly { readonly content: string }[] }[]
    readonly dependencies: readonly { readonly ref: string; readonly dependsOn: readonly string[] }[]
  }
  t.regex(bill.serialNumber, /^urn:uuid:[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
  const references = bill.components.map((component) => component['bom-ref'])
  t.is(new Set(references).size, references.length)
  t.is(references.length, new Set(shippedPackages().map(({ name, version }) => `${name}@${version}`)).size + 1)
  for (const { ref, dependsOn } of bill.dependencies)
    for (const needed of dependsOn) t.true(references.includes(needed), `${ref} needs ${needed}`)
  t.true(
    bill.dependencies.find(({ ref }) => ref.startsWith('pkg:npm/acme-client@'))?.dependsOn.some((one) => one.startsWith('pkg:npm/axios@')),
  )
  t.true(bill.components.filter(({ hashes }) => hashes?.[0]?.content.length === 128).length >= references.length - 2)
})

test('postern licenses: prints the license texts, or the SBOM with --sbom', async (t) => {
  await using folder = await temporaryFolder('licences')
  const options = { folder: folder.path }
  const texts = await runCommand(options, 'licenses')
  t.is(texts.code, 0)
  t.regex(texts.output, /^acme-client 5\.4\.0\nLicence: MIT\n/m)
  const bill = await runCommand(options, 'licenses', '--sbom')
  t.like(JSON.parse(bill.output), { bomFormat: 'CycloneDX', specVersion: '1.6' })
})
