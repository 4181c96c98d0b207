/** Checks for `verify` that templates and versions match: each template has all its versions, and each version has its template. */
import type { Database } from '#store/database.ts'
import { templates, templateVersions, versionId, type Template, type TemplateVersion } from './template.ts'

/** Returns the problems of a template or version, one sentence each; empty for other records. */
export async function templateDisagreements(database: Database, kind: string, organizationId: string, record: unknown): Promise<string[]> {
  if (kind === templates.name) return missingVersions(database, organizationId, record as Template)
  if (kind !== templateVersions.name) return []
  const { templateId, version } = record as TemplateVersion
  const template = (await database.get(templates, { organizationId }, templateId))?.record
  return template && version <= template.currentVersion ? [] : [`the template ${templateId} has no version ${version}`]
}

async function missingVersions(database: Database, organizationId: string, { id, currentVersion }: Template): Promise<string[]> {
  const problems: string[] = []
  for (let version = 1; version <= currentVersion; version++) {
    const stored = await database.get(templateVersions, { organizationId }, versionId(id, version))
    if (!stored) problems.push(`its version ${version} of ${currentVersion} is missing`)
  }
  return problems
}
