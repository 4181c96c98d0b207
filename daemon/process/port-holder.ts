/** Finds the process that listens on a TCP port or has a file open, from the tables of the Linux kernel (proc(5)). */
import { readdir, readFile, readlink, realpath } from 'node:fs/promises'
import { basename } from 'node:path'

const listenState = '0A'

/** Returns the process, such as `nginx (pid 812)`; undefined on other systems or for a process of another user. */
export async function portHolder(port: number): Promise<string | undefined> {
  return holderOf(await listeningSockets(port))
}

/** Returns the process that has the file open; undefined if it is unknown. */
export async function fileHolder(path: string): Promise<string | undefined> {
  return holderOf(new Set([await realpath(path).catch(() => path)]))
}

async function holderOf(opened: ReadonlySet<string>): Promise<string | undefined> {
  if (opened.size === 0) return undefined
  const processes = (await namesIn('/proc')).filter((name) => /^\d+$/.test(name))
  for (const pid of processes) {
    if (!(await holdsAny(pid, opened))) continue
    return `${await programOf(pid)} (pid ${pid})`
  }
  return undefined
}

/** Returns links of the form `socket:[inode]` for the sockets that listen on the port, on any address. */
async function listeningSockets(port: number): Promise<ReadonlySet<string>> {
  const hexPort = port.toString(16).toUpperCase().padStart(4, '0')
  const tables = await Promise.all(['/proc/net/tcp', '/proc/net/tcp6'].map((path) => readFile(path, 'utf8').catch(() => '')))
  const rows = tables.flatMap((table) => table.split('\n').slice(1)).map((line) => line.trim().split(/\s+/))
  const listening = rows.filter(([, local, , state]) => state === listenState && local?.endsWith(`:${hexPort}`))
  return new Set(listening.map((row) => `socket:[${row[9]}]`))
}

async function holdsAny(pid: string, opened: ReadonlySet<string>): Promise<boolean> {
  const folder = `/proc/${pid}/fd`
  const links = await Promise.all((await namesIn(folder)).map((name) => readlink(`${folder}/${name}`).catch(() => '')))
  return links.some((link) => opened.has(link))
}

/** Returns only the name of the program, because its arguments may contain secrets. */
async function programOf(pid: string): Promise<string> {
  const text = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')
  return basename(text.split('\0')[0] ?? '') || 'unknown'
}

const namesIn = (folder: string): Promise<string[]> => readdir(folder).catch(() => [])
