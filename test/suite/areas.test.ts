/** Tests of areas: which changes make an area run, and how a green run is recorded. */
import { execFileSync } from 'node:child_process'
import { mkdir, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import test, { type ExecutionContext } from '#test'
import { areaStates, provenPath, writeProven, type AreaState, type ModuleFacts } from './areas.ts'

const module: ModuleFacts = {
  path: 'test/daemon/packaging/a.test.ts',
  lane: 'real',
  imports: new Set(['test/daemon/packaging/a.test.ts', 'test/support/b.ts', 'store/kv.ts']),
}

class Project {
  readonly root: string

  private constructor(root: string) {
    this.root = root
  }

  /** Makes a Git checkout with a recorded area. */
  static async make(t: ExecutionContext): Promise<Project> {
    const root = await mkdtemp(join(tmpdir(), 'postern-areas-'))
    t.teardown(() => rm(root, { recursive: true }))
    execFileSync('git', ['init', '-q'], { cwd: root })
    const project = new Project(root)
    for (const path of [...module.imports, 'daemon/packaging/a.ts', 'package.json', 'daemon/core/c.ts']) await project.write(path, '1')
    await project.write(provenPath, '{}')
    writeProven(root, [project.packaging], [project.packaging])
    return project
  }

  async write(path: string, text: string): Promise<void> {
    await mkdir(dirname(join(this.root, path)), { recursive: true })
    await writeFile(join(this.root, path), text)
  }

  get packaging(): AreaState {
    const found = areaStates(this.root, [module], false).find(({ name }) => name === 'packaging')
    if (!found) throw new Error('there is no such area')
    return found
  }
}

const changes: Readonly<Record<string, (project: Project) => Promise<void>>> = {
  'a changed source': (project) => project.write('daemon/packaging/a.ts', '2'),
  'an untracked source': (project) => project.write('daemon/packaging/new.ts', '1'),
  'a deleted source': ({ root }) => rm(join(root, 'daemon/packaging/a.ts')),
  'a renamed source': ({ root }) => rename(join(root, 'daemon/packaging/a.ts'), join(root, 'daemon/packaging/b.ts')),
  'a changed test module': (project) => project.write(module.path, '2'),
  'a changed import of a test module': (project) => project.write('test/support/b.ts', '2'),
  'a changed file of the product that a test module imports': (project) => project.write('store/kv.ts', '2'),
  'a script next to a test module': (project) => project.write('test/daemon/packaging/walk.sh', '1'),
  'a changed dependency': (project) => project.write('package.json', '2'),
}

test('areaStates(): skips an area until a file of it changes', async (t) => {
  const project = await Project.make(t)
  t.false(project.packaging.runs)
  await project.write('daemon/core/c.ts', '2')
  t.false(project.packaging.runs)
  for (const [what, change] of Object.entries(changes)) {
    const changed = await Project.make(t)
    await change(changed)
    t.true(changed.packaging.runs, what)
  }
})

test('areaStates(): records of runs next to a module do not make its area run', async (t) => {
  const project = await Project.make(t)
  const path = 'test/suite/servers.test.ts'
  const servers: ModuleFacts = { path, lane: 'real', imports: new Set([path, 'test/support/peers/postgresql.ts']) }
  const database = () => areaStates(project.root, [servers], false).find(({ name }) => name === 'database')
  const before = database()
  writeProven(project.root, before ? [before] : [], before ? [before] : [])
  await project.write('test/suite/runs.tsv', '1')
  await project.write('test/suite/durations.json', '{}')
  t.like(database(), { runs: false })
  await project.write('test/suite/other.txt', '1')
  t.like(database(), { runs: true })
})

test('areaStates(): runs all areas without Git and after merge conflicts', async (t) => {
  const project = await Project.make(t)
  await project.write(provenPath, `<<<<<<< HEAD\n${await readFile(join(project.root, provenPath), 'utf8')}=======\n>>>>>>> other\n`)
  t.true(project.packaging.runs)
  writeProven(project.root, [project.packaging], [project.packaging])
  t.false(project.packaging.runs)
  await rm(join(project.root, '.git'), { recursive: true })
  t.like(project.packaging, { runs: true, why: 'there is no Git checkout to compare with' })
})

test('writeProven(): skips an area whose files changed during the run', async (t) => {
  const project = await Project.make(t)
  await project.write('daemon/packaging/a.ts', '2')
  const before = project.packaging
  await project.write('daemon/packaging/a.ts', '3')
  writeProven(project.root, [before], [project.packaging])
  t.true(project.packaging.runs)
  await project.write('daemon/packaging/a.ts', '2')
  t.true(project.packaging.runs)
})
