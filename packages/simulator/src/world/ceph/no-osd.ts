/** What Ceph writes in place of an OSD where an erasure-coded PG misses a shard: CRUSH_ITEM_NONE. */
export const noOsd = 0x7fffffff
