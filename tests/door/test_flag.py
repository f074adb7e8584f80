import asyncio

from door.flag import Flag


async def test_all_who_wait_go_on_when_the_flag_is_put_up() -> None:
    flag = Flag()
    waiting = [asyncio.ensure_future(flag.wait()) for _ in range(3)]
    await asyncio.sleep(0)
    assert not any(waiter.done() for waiter in waiting)
    flag.set()
    await asyncio.gather(*waiting)
    assert flag.is_set()


async def test_nobody_waits_for_a_flag_that_is_up() -> None:
    flag = Flag()
    flag.set()
    await flag.wait()
    flag.clear()
    waiter = asyncio.ensure_future(flag.wait())
    await asyncio.sleep(0)
    assert not waiter.done()
    flag.set()
    await waiter


async def test_who_stops_waiting_is_forgotten() -> None:
    flag = Flag()
    gone = asyncio.ensure_future(flag.wait())
    await asyncio.sleep(0)
    gone.cancel()
    staying = asyncio.ensure_future(flag.wait())
    await asyncio.sleep(0)
    flag.set()
    await staying
    assert gone.cancelled()
