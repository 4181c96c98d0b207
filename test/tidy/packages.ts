/** One home per third-party package: one folder decides about its use, so that replacing it touches only that folder. */
import { isBuiltin } from 'node:module'
import { matchesGlob } from 'node:path'
import type { Source } from './source.ts'

/** Where a package may be imported, as globs over file paths. Tests may import any of them as well. */
export const homes: Readonly<Record<string, readonly string[]>> = {
  '@aws-sdk/client-sesv2': [],
  '@getbrevo/brevo': [],
  '@sendgrid/eventwebhook': [],
  '@sendgrid/mail': [],
  mailersend: [],
  'mailgun.js': [],
  'node-mailjet': [],
  'postal-mime': [],
  postmark: [],
  resend: [],
  sparkpost: [],
  'acme-client': ['daemon/certificates/acme/**'],
  '@fastify/busboy': ['admin-api/bodies/**'],
  '@preact/signals': ['admin-api/dashboard/client/**'],
  ava: [],
  '@messageformat/core': ['config/texts/**'],
  '@messageformat/parser': ['config/texts/parameter-types.ts'],
  '@modelcontextprotocol/client': [],
  '@modelcontextprotocol/conformance': [],
  '@modelcontextprotocol/inspector': [],
  '@modelcontextprotocol/sdk': [],
  '@modelcontextprotocol/server': ['admin-api/mcp/**'],
  '@seriousme/openapi-schema-validator': [],
  '@simplewebauthn/server': ['daemon/core/people/**'],
  aws4fetch: ['store/postgresql/objects/**'],
  'axe-core': [],
  'css-tree': ['ingest/**'],
  dataloader: ['admin-api/graphql/**'],
  esbuild: [
    'admin-api/catalogs/catalog-plugin.ts',
    'admin-api/dashboard/build.ts',
    'admin-api/dashboard/sheet-plugin.ts',
    'admin-api/pages/forms/scripts/build.ts',
    'admin-api/docs-site/site.ts',
    'daemon/packaging/**',
  ],
  graphql: ['admin-api/graphql/**'],
  'graphql-http': ['admin-api/graphql/**'],
  'graphql-request': [],
  h3: ['admin-api/**'],
  'highlight.js': ['admin-api/docs-site/**'],
  htmlparser2: ['ingest/**'],
  imapflow: ['protocols/imap-dsn/**'],
  'ipaddr.js': ['config/**', 'daemon/core/**', 'ingest/dns/**'],
  jose: ['daemon/core/oauth/**'],
  level: ['store/**'],
  pg: ['store/postgresql/**'],
  'linkify-it': ['admin-api/pages/**'],
  mailauth: ['ingest/**', 'protocols/relay/**'],
  mailparser: ['ingest/**'],
  'markdown-it': ['admin-api/docs-site/**'],
  'mcp-remote': [],
  minisearch: ['admin-api/docs-site/**'],
  nodemailer: ['daemon/core/submission/**'],
  oauth4webapi: [],
  'openapi-fetch': ['admin-api/dashboard/client/app/**'],
  'openid-client': [],
  'oxc-parser': [],
  pino: ['daemon/observability/**'],
  'pino-pretty': ['daemon/observability/**'],
  'playwright-core': [],
  preact: ['admin-api/dashboard/client/**'],
  prettier: ['config/generate-example.ts'],
  'prom-client': ['daemon/observability/**'],
  'reflect-metadata': ['daemon/composition/composition.ts'],
  'sanitize-html': ['ingest/**'],
  'smtp-server': ['protocols/reception/**', 'protocols/submission/**', 'protocols/mx/**', 'protocols/mail-tests/**'],
  'sns-validator': [],
  srvx: ['admin-api/**'],
  standardwebhooks: [],
  stripe: [],
  svix: [],
  textlint: [],
  tldts: ['ingest/dns/**'],
  yauzl: ['ingest/zip/**'],
  tsyringe: ['daemon/composition/composition.ts', 'daemon/composition/parts.ts'],
  zod: ['config/**', 'store/**', 'daemon/core/**', 'admin-api/**'],
}

/** Every import of a package outside its home, of a package without a home, and of a built-in module without `node:`. */
export function packageHomes(sources: readonly Source[], table: typeof homes = homes): string[] {
  return sources.flatMap(({ path, imports }) =>
    imports.flatMap(({ specifier, line }) => {
      const fault = judge(path, specifier, table)
      return fault ? [`${path}:${line} imports ${specifier}: ${fault}`] : []
    }),
  )
}

function judge(path: string, specifier: string, table: typeof homes): string | undefined {
  if (/^[.#]/.test(specifier) || specifier.startsWith('node:')) return undefined
  if (isBuiltin(specifier)) return `write node:${specifier}`
  const name = specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/')
  const home = Object.hasOwn(table, name) ? table[name] : undefined
  if (!home) return `${name} has no home yet; add it to the table in test/tidy/packages.ts`
  if (path.startsWith('test/') || home.some((glob) => matchesGlob(path, glob))) return undefined
  return home.length ? `${name} lives in ${home.join(' and ')} only` : `${name} is for tests only`
}
