/** A program that starts PostgreSQL, prints its process id and does not end. */
import { Postgresql } from '../../support/peers/postgresql.ts'

const server = await Postgresql.start()
process.stdout.write(`${String(server.pid)}\n`)
setInterval(() => {}, 2 ** 30)
