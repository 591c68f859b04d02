//! Writes classes of a pack as seeds for the fuzz target: `seeds PACK FOLDER [EVERY]`.
//!
//! Only those below 6 KB, every 40th of them unless said otherwise, each with a mode in front.

#[path = "../../tests/support/pack.rs"]
mod pack;

fn main() -> std::io::Result<()> {
    let args: Vec<String> = std::env::args().collect();
    let bytes = std::fs::read(&args[1])?;
    let every = args.get(3).map_or(40, |n| n.parse().expect("a number"));
    let small = pack::classes(&bytes).filter(|class| class.len() < 6_000);
    for (number, class) in small.step_by(every).enumerate() {
        let mut seed = vec![number as u8];
        seed.extend_from_slice(class);
        std::fs::write(format!("{}/{number}", args[2]), seed)?;
    }
    Ok(())
}
