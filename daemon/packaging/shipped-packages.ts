/** Third-party code in the deliverables: the packages of the lockfile, except for development, and Node.js. */
import { createHash } from 'node:crypto'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { MadeOf } from '#config/own-files.ts'

/** Not `root` of `bundle.ts`, because its import would load the bundler. */
const root = join(import.meta.dirname, '../..')

/** Names of the files in the single binary. */
export const textsFile = 'third-party-licences.txt'
export const billFile = 'sbom.cdx.json'

/** A package of the lockfile. */
export interface ShippedPackage {
  /** Path from the folder of the program. */
  readonly folder: string
  readonly name: string
  readonly version: string
  /** An SPDX expression. */
  readonly licence: string
  /** Digest of its archive, as in the lockfile. */
  readonly integrity: string
  readonly needs: readonly string[]
}

interface Locked {
  readonly version?: string
  readonly license?: string
  readonly integrity?: string
  readonly dev?: boolean
  readonly devOptional?: boolean
  readonly optional?: boolean
  readonly dependencies?: Readonly<Record<string, string>>
}

interface Lockfile {
  readonly name: string
  readonly version: string
  readonly packages: Readonly<Record<string, Locked>>
}

const readLockfile = (): Lockfile => JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as Lockfile

/** Returns the packages sorted by name. Optional packages contain code for other systems or for builds. */
export function shippedPackages(): readonly ShippedPackage[] {
  const { packages } = readLockfile()
  return Object.entries(packages)
    .filter(([folder, { dev, devOptional, optional }]) => folder !== '' && !dev && !devOptional && !optional)
    .map(([folder, { version = '', license = '', integrity = '', dependencies = {} }]) => ({
      ...{ folder, version, integrity, licence: license },
      name: folder.slice(folder.lastIndexOf('node_modules/') + 'node_modules/'.length),
      needs: Object.keys(dependencies).flatMap((name) => placeOf(name, folder, packages) ?? []),
    }))
    .sort((a, b) => order(a.name, b.name) || order(a.version, b.version))
}

const order = (a: string, b: string): number => Number(a > b) - Number(a < b)

/** Resolves a dependency like Node.js: first within the package, then outward. */
function placeOf(name: string, from: string, packages: Lockfile['packages']): string | undefined {
  const parts = from.split('/node_modules/')
  const places = parts.map((_, out) => `${parts.slice(0, parts.length - out).join('/node_modules/')}/node_modules/${name}`)
  return [...places, `node_modules/${name}`].find((place) => packages[place] !== undefined)
}

/** Returns the licences of all packages with their texts, as the licences require. */
export function licenceTexts(): string {
  const node = { name: 'Node.js', version: process.versions.node, licence: 'MIT, with the licences of its parts' }
  const parts = [...shippedPackages().map((one) => ({ ...one, text: textIn(join(root, one.folder)) })), { ...node, text: nodeText() }]
  return parts
    .map(({ name, version, licence, text }) => `${name} ${version}\nLicence: ${licence}\n\n${text.trim()}\n`)
    .join(`\n${'-'.repeat(80)}\n\n`)
}

const licenceFile = /^(licen[cs]e|copying|notice|unlicense)(?:[.-].*)?$/i

/** Returns the licence text, or the authors of a package without one. */
function textIn(folder: string): string {
  const files = globSync('*', { cwd: folder })
    .filter((name) => licenceFile.test(name))
    .sort(order)
  if (files.length > 0) return files.map((name) => readFileSync(join(folder, name), 'utf8')).join('\n')
  const { author, homepage } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Record<string, unknown>
  const by = typeof author === 'object' && author !== null && 'name' in author ? author.name : author
  return [by, homepage].filter((word) => typeof word === 'string').join(', ')
}

/** Returns the licence of the Node.js package of this build. */
function nodeText(): string {
  const [file] = globSync('node_modules/node-linux-*/LICENSE', { cwd: root })
  return file === undefined ? 'https://github.com/nodejs/node/blob/main/LICENSE' : readFileSync(join(root, file), 'utf8')
}

/** Returns the bill of materials in CycloneDX 1.6. It is the same for the same commit. */
export function billOfMaterials({ commit, committedAt }: MadeOf): string {
  const { name, version, packages } = readLockfile()
  const shipped = shippedPackages()
  const reference = new Map(shipped.map((one) => [one.folder, purlOf(one)]))
  const own = `pkg:generic/${name}@${version}`
  const direct = Object.keys(packages['']?.dependencies ?? {}).flatMap((dependency) => reference.get(`node_modules/${dependency}`) ?? [])
  const node = `pkg:generic/node@${process.versions.node}`
  const bill = {
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    serialNumber: `urn:uuid:${uuidOf(`${name} ${version} ${commit}`)}`,
    version: 1,
    metadata: {
      timestamp: committedAt,
      component: {
        type: 'application',
        'bom-ref': own,
        name,
        version,
        licenses: [{ license: { id: 'MIT' } }],
        properties: [{ name: 'commit', value: commit }],
      },
    },
    components: [
      { type: 'platform', 'bom-ref': node, name: 'node', version: process.versions.node, licenses: [{ license: { id: 'MIT' } }] },
      ...[...new Map(shipped.map((one) => [purlOf(one), one])).values()].map(componentOf),
    ],
    dependencies: [
      { ref: own, dependsOn: [...new Set([node, ...direct])].sort(order) },
      ...[...Map.groupBy(shipped, purlOf)].map(([ref, same]) => ({
        ref,
        dependsOn: [...new Set(same.flatMap(({ needs }) => needs.flatMap((place) => reference.get(place) ?? [])))].sort(order),
      })),
    ],
  }
  return `${JSON.stringify(bill, undefined, 2)}\n`
}

const purlOf = ({ name, version }: ShippedPackage): string => `pkg:npm/${name.replace('@', '%40')}@${version}`

function componentOf(one: ShippedPackage): Readonly<Record<string, unknown>> {
  const [algorithm = '', digest = ''] = one.integrity.split('-', 2)
  const isExpression = /[ (]/.test(one.licence)
  return {
    type: 'library',
    'bom-ref': purlOf(one),
    name: one.name,
    version: one.version,
    purl: purlOf(one),
    scope: 'required',
    licenses: [isExpression ? { expression: one.licence } : { license: { id: one.licence } }],
    ...(algorithm === 'sha512' && { hashes: [{ alg: 'SHA-512', content: Buffer.from(digest, 'base64').toString('hex') }] }),
  }
}

/** Creates a UUID (RFC 9562 §5.8) from a digest. */
function uuidOf(text: string): string {
  const digest = createHash('sha256').update(text).digest()
  digest[6] = (digest[6]! & 0x0f) | 0x80
  digest[8] = (digest[8]! & 0x3f) | 0x80
  return digest.toString('hex', 0, 16).replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
}
